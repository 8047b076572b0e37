"""All walls around one process, raised in their order before any claimed code is there."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from audit.sandbox import bounds, filters, landlock, limits, namespaces, native, places
from audit.sandbox.bounds import Bounds
from audit.sandbox.surroundings import homes

_HOME = "home"


@dataclass(frozen=True)
class Walls:
    """What one session or compiler needs of the machine.

    Attributes:
        reads: files and folders it may read.
        writes: folders for its results: plain files only.
        caches: folders in which it may do what a compiler does in its own: links and renames too.
        rules: what everything contained may see, see `places.system`.
        network: sockets of every family, in a network without another machine, where one is offered.
        processor_s: seconds of processor time for one process; None for no limit.
        home: a folder for its temporary files, used where it gets no file system of its own.
        limit: see `bounds`.
        raised: False leaves the process as it is, to measure what the walls cost.
    """

    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    caches: Sequence[str] = ()
    rules: Sequence[tuple[str, int]] = field(default_factory=places.system)
    network: bool = False
    processor_s: float | None = None
    home: str | None = None
    limit: Bounds = field(default_factory=bounds.of_this_machine)
    raised: bool = True


def prepare() -> None:
    """Works out ahead what is the same for every process that is forked from this one."""
    places.system()
    bounds.of_this_machine()
    with suppress(KeyError):  # a machine whose numbers of system calls are not known
        filters.program(native.MACHINE, network=False)


def enclose(walls: Walls) -> str:
    """Raises the walls around this process, which has one thread, and moves it into its home.

    A wall this machine does not offer is left out: `trial` is what finds out which stand.

    Returns:
        The folder of its temporary files.
    """
    native.die_with_parent(signal.SIGKILL)
    if not walls.raised:
        return tempfile.gettempdir()
    scratch = namespaces.own_scratch(walls.limit.scratch)
    if scratch and walls.caches:
        namespaces.show_caches(walls.caches[0])
    networked = walls.network and _has_own_network()
    home = _moved_in(namespaces.SHARED_MEMORY if scratch else walls.home)
    limits.set_limits(walls.limit, processor_s=walls.processor_s)
    with suppress(OSError, KeyError):
        limits.drop_capabilities()
    private = [home, *([namespaces.SHARED_MEMORY] if scratch else []), *walls.caches]
    rules = [
        *walls.rules,
        places.of_processes(),
        *places.read_only(walls.reads),
        *((path, landlock.RESULTS) for path in walls.writes),
        *((path, landlock.SCRATCH) for path in private),
    ]
    if landlock.abi() >= landlock.LEAST_ABI:
        with suppress(OSError):
            landlock.restrict(rules, tcp=networked)
    with suppress(OSError, KeyError):
        filters.install(filters.program(native.MACHINE, network=networked))
    return home


def _moved_in(above: str | None) -> str:
    home = Path(above or tempfile.mkdtemp(prefix="audit-")) / _HOME
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ.update(homes(str(home)))
    tempfile.tempdir = None  # what was found before the walls stood
    os.chdir(home)
    return str(home)


def _has_own_network() -> bool:
    try:
        namespaces.own_network()
    except OSError:
        return False
    return True
