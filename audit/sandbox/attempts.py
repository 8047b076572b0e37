"""Try every forbidden operation once from inside the sandbox, and report those that were not refused.

A process that tries to outlive the session locks the file `HELD` in the folder of results.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from audit.sandbox import landlock, namespaces, native
from audit.sandbox.policy import home_variables, scrubbed

HELD = "held"
_DETACH = 17
_PTRACE = {"x86_64": 101, "aarch64": 117}
_WITHOUT_RESERVE = 0x4000
_OUTLIVES_S = 20.0


@dataclass(frozen=True)
class Targets:
    """The objects that the attempts aim at.

    Attributes:
        outside: a process that must not be reached.
        secret: a file that must not be read.
        elsewhere: a folder that must not be written to.
        folder: the folder of results.
    """

    outside: int
    secret: str
    elsewhere: str
    folder: str


Attempt = Callable[[Targets], str | None]


def run(targets: Targets) -> dict[str, str]:
    """Return the reason why each part of the sandbox does not hold, by name; empty where it holds."""
    return {name: attempt(targets) or "" for name, attempt in ATTEMPTS.items()}


def _files(targets: Targets) -> str | None:
    reading = _refused(lambda: Path(targets.secret).read_bytes())
    writing = _refused(lambda: (Path(targets.elsewhere) / "tried").write_bytes(b""))
    return (
        None
        if reading and writing
        else f"the kernel offers no Landlock that knows renames (found: version {landlock.abi()})"
    )


def _processes(targets: Targets) -> str | None:
    outside = targets.outside
    signals = _refused(lambda: os.kill(outside, 0))
    memory = _refused(lambda: Path(f"/proc/{outside}/environ").read_bytes())
    return None if signals and memory else "processes of the same user can be reached"


def _namespace(targets: Targets) -> str | None:
    """Start a process that leaves its session and its parent and holds a lock while it lives."""
    ready, locked = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            lock = os.open(Path(targets.folder) / HELD, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.write(locked, b"1")
            time.sleep(_OUTLIVES_S)
        os._exit(0)
    os.wait()
    os.read(ready, 1)
    os.close(ready)
    os.close(locked)
    return None if os.getppid() == 1 else "none is offered; what a session starts is sought and ended one by one"


def _network(_: Targets) -> str | None:
    return (
        None if _refused(lambda: socket.socket(socket.AF_INET).close()) else "sockets to other machines can be opened"
    )


def _calls(_: Targets) -> str | None:
    number = _PTRACE.get(native.MACHINE)
    try:  # process 0 does not exist: an allowed call fails with ESRCH
        native.call(number or 0, _DETACH, 0, 0, 0)
    except OSError as error:
        if number is not None and error.errno == errno.EPERM and _refused(_lease) and _refused(_send_descriptor):
            return None
    return f"no filter of system calls on {native.MACHINE}"


def _lease() -> None:
    """Take a lease on a file of our own: any other process that opens it then waits."""
    with (Path(os.environ["HOME"]) / "leased").open("wb") as own:
        fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK)


def _send_descriptor() -> None:
    """Send a file through a socket: until it is received, the descriptor counts for no process."""
    one, other = socket.socketpair()
    with one, other:
        socket.send_fds(one, [b"x"], [0])


def _metadata(targets: Targets) -> str | None:
    """Change rights, times and attributes of a file of the user, which Landlock does not guard."""
    changes: list[Callable[[], object]] = [
        lambda: Path(targets.secret).chmod(0o600),
        lambda: os.utime(targets.secret),
        lambda: os.setxattr(targets.secret, "user.tried", b""),
    ]
    held = all(map(_refused, changes))
    return None if held else "neither read-only mounts nor a filter of system calls are offered"


def _limits(targets: Targets) -> str | None:
    most = resource.getrlimit(resource.RLIMIT_DATA)[0]
    memory = most != resource.RLIM_INFINITY and _refused(lambda: _take(most + mmap.PAGESIZE))
    file_size = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    file = Path(targets.folder) / "large"
    files = file_size != resource.RLIM_INFINITY and _refused(lambda: _lengthen(file, file_size + 1))
    raised = _refused(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1)))
    return None if memory and files and raised else "limits of memory, file size or core files do not hold"


def _privileges(_: Targets) -> str | None:
    own = Path(os.environ["HOME"]) / "own"
    own.touch()
    return None if _refused(lambda: os.chown(own, os.getuid() + 1, -1)) else "root's rights could not be given up"


def _environment(_: Targets) -> str | None:
    foreign = set(os.environ) - set(home_variables("")) - set(scrubbed(os.environ))
    return f"variables that nobody allowed: {len(foreign)}" if foreign else None


def _scratch(_: Targets) -> str | None:
    home = os.statvfs(os.environ["HOME"])
    outside = os.statvfs("/")
    own = os.environ["HOME"].startswith(namespaces.SHARED_MEMORY) and home.f_blocks < outside.f_blocks
    return None if own else "no file system of its own is offered; shared memory is closed instead"


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError, MemoryError):
        return True
    return False


def _take(size: int) -> None:
    mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _WITHOUT_RESERVE).close()


def _lengthen(file: Path, size: int) -> None:
    with file.open("wb") as out:
        os.truncate(out.fileno(), size)


ATTEMPTS: dict[str, Attempt] = {
    "files": _files,
    "processes": _processes,
    "namespace": _namespace,
    "network": _network,
    "calls": _calls,
    "metadata": _metadata,
    "limits": _limits,
    "privileges": _privileges,
    "environment": _environment,
    "scratch": _scratch,
}


if __name__ == "__main__":
    print(json.dumps(run(Targets(**json.loads(sys.argv[1])))))
