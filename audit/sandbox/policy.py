"""The sandbox of one process: a policy, enforced before any claimed code is loaded."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from audit.sandbox import filters, landlock, limits, namespaces, native, surroundings
from audit.sandbox.limits import Bounds
from audit.sandbox.surroundings import home_variables

_HOME = "home"


@dataclass(frozen=True)
class Policy:
    """The parts of the machine that one session or compiler may use.

    Attributes:
        reads: files and folders it may read.
        writes: folders for its results: regular files only.
        caches: folders of compilers: links and renames too.
        rules: files that every sandboxed process may see, see `surroundings.system`.
        network: whether it may open sockets of every family, in a network without another machine.
        processor_s: seconds of processor time for one process; None for no limit.
        home: a folder for its temporary files, where it gets no file system of its own.
        limit: its resources.
    """

    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    caches: Sequence[str] = ()
    rules: Sequence[tuple[str, int]] = field(default_factory=surroundings.system)
    network: bool = False
    processor_s: float | None = None
    home: str | None = None
    limit: Bounds = field(default_factory=limits.of_this_machine)


def prepare() -> None:
    """Fill the caches that every process forked from this one uses."""
    surroundings.system()
    limits.of_this_machine()
    with suppress(KeyError):  # a machine with unknown system call numbers
        filters.program(native.MACHINE, metadata=True)


def enforce(policy: Policy) -> str:
    """Enforce the policy on this process, which must have one thread.

    A mechanism that this machine does not offer is left out; `attempts` finds out which hold.

    Returns:
        The folder of its temporary files, which is its working directory now.
    """
    native.die_with_parent(signal.SIGKILL)
    if native.switched_off("everything"):
        return _enter_home(policy.home)
    named = [*policy.writes, *policy.caches, *policy.reads, *(path for path, _ in policy.rules)]
    scratch = namespaces.mount_shared_memory(policy.limit.scratch, files=policy.limit.files, kept=named)
    shown = [namespaces.CACHES] if scratch and policy.caches and namespaces.mount_caches(policy.caches[0]) else []
    read_only = scratch and namespaces.mount_read_only([*policy.writes, *policy.caches, *shown])
    networked = policy.network and _entered_network()
    home = _enter_home(namespaces.SHARED_MEMORY if scratch else policy.home)
    limits.set_limits(policy.limit, processor_s=policy.processor_s)
    with suppress(OSError, KeyError):
        limits.drop_capabilities()
    private = [home, *([namespaces.SHARED_MEMORY] if scratch else []), *policy.caches]
    rules = [
        *policy.rules,
        surroundings.proc_rule(),
        *surroundings.read_only(policy.reads),
        *((path, landlock.RESULTS) for path in policy.writes),
        *((path, landlock.SCRATCH) for path in private),
    ]
    if landlock.abi() >= landlock.LEAST_ABI:
        with suppress(OSError):
            landlock.restrict(rules, tcp=networked)
    with suppress(OSError, KeyError):
        filters.install(filters.program(native.MACHINE, network=networked, metadata=read_only))
    return home


def _enter_home(parent: str | None) -> str:
    home = Path(parent or tempfile.mkdtemp(prefix="audit-")) / _HOME
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.update(home_variables(str(home)))
    tempfile.tempdir = None  # cached from before the sandbox
    os.chdir(home)
    return str(home)


def _entered_network() -> bool:
    try:
        namespaces.enter_network()
    except OSError:
        return False
    return True
