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
from audit.sandbox.surroundings import homes

_HOME = "home"


@dataclass(frozen=True)
class Policy:
    """The parts of the machine that one session or compiler may use.

    Attributes:
        reads: files and folders it may read.
        writes: folders for its results: plain files only.
        caches: folders in which it may do what a compiler does in its own: links and renames too.
        rules: the files that every sandboxed process may see, see `surroundings.system`.
        network: sockets of every family, in a network without another machine, where one is offered.
        processor_s: seconds of processor time for one process; None for no limit.
        home: a folder for its temporary files, used where it gets no file system of its own.
        limit: see `Bounds`.
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
    """Compute ahead the parts that are the same for every process that is forked from this one."""
    surroundings.system()
    limits.of_this_machine()
    with suppress(KeyError):  # a machine whose numbers of system calls are not known
        filters.program(native.MACHINE, metadata=True)


def enforce(policy: Policy) -> str:
    """Put this process, which has one thread, into its sandbox and move it into its home.

    A mechanism that this machine does not offer is left out; `attempts` finds out which hold.

    Returns:
        The folder of its temporary files.
    """
    native.die_with_parent(signal.SIGKILL)
    if native.lacks("everything"):
        return _moved_in(policy.home)
    named = [*policy.writes, *policy.caches, *policy.reads, *(path for path, _ in policy.rules)]
    scratch = namespaces.own_scratch(policy.limit.scratch, files=policy.limit.files, kept=named)
    shown = [namespaces.CACHES] if scratch and policy.caches and namespaces.show_caches(policy.caches[0]) else []
    closed = scratch and namespaces.close_files([*policy.writes, *policy.caches, *shown])
    networked = policy.network and _has_own_network()
    home = _moved_in(namespaces.SHARED_MEMORY if scratch else policy.home)
    limits.set_limits(policy.limit, processor_s=policy.processor_s)
    with suppress(OSError, KeyError):
        limits.drop_capabilities()
    private = [home, *([namespaces.SHARED_MEMORY] if scratch else []), *policy.caches]
    rules = [
        *policy.rules,
        surroundings.of_processes(),
        *surroundings.read_only(policy.reads),
        *((path, landlock.RESULTS) for path in policy.writes),
        *((path, landlock.SCRATCH) for path in private),
    ]
    if landlock.abi() >= landlock.LEAST_ABI:
        with suppress(OSError):
            landlock.restrict(rules, tcp=networked)
    with suppress(OSError, KeyError):
        filters.install(filters.program(native.MACHINE, network=networked, metadata=closed))
    return home


def _moved_in(above: str | None) -> str:
    home = Path(above or tempfile.mkdtemp(prefix="audit-")) / _HOME
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.update(homes(str(home)))
    tempfile.tempdir = None  # found before the sandbox was there
    os.chdir(home)
    return str(home)


def _has_own_network() -> bool:
    try:
        namespaces.own_network()
    except OSError:
        return False
    return True
