"""System calls that Python has no name for, through ctypes.

Numbers are those of Linux' `asm/unistd.h`, constants those of its `uapi` headers.
"""

from __future__ import annotations

import ctypes
import errno
import os

MACHINE = os.uname().machine
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38


WITHOUT = "AUDIT_WITHOUT"
"""The variable that lists mechanisms to switch off: `namespaces`, `landlock`, `seccomp`, or `everything`. Tests and
`bench/` set it to imitate a machine without them. The check of the sandbox reports them as missing."""


def switched_off(mechanism: str) -> bool:
    """Return whether the variable `WITHOUT` names that mechanism."""
    return not {mechanism, "everything"}.isdisjoint(os.environ.get(WITHOUT, "").split(","))


def call(number: int, *arguments: object) -> int:
    """Make a system call, integers passed as longs. Raises OSError with the kernel's error."""
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(_LIBC.syscall(ctypes.c_long(number), *passed))


def unshare(flags: int) -> None:
    """Call unshare(2). Raises OSError."""
    if switched_off("namespaces"):
        raise OSError(errno.ENOSYS, "namespaces are switched off")
    _checked(_LIBC.unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Call mount(2). Raises OSError."""
    texts = [text.encode() for text in (source, target, kind)]
    _checked(_LIBC.mount(*texts, ctypes.c_ulong(flags), options.encode()))


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process that signal when the thread that forked it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Make descendants whose parent ends children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def renounce_privileges() -> None:
    """Make setuid bits and file capabilities of programs without effect for this process and its descendants."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_LIBC.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
