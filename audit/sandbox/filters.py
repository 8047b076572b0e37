"""seccomp: system calls no kernel needs and an escape would, refused with EPERM; nothing is ever killed for asking.

A program for the kernel's own small machine, see https://docs.kernel.org/userspace-api/seccomp_filter.html; numbers of
calls from `asm/unistd.h`, of instructions from `linux/bpf_common.h`.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from dataclasses import dataclass
from functools import cache

from audit.sandbox import native

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_REFUSE = _ERRNO | errno.EPERM
_ABSENT = _ERRNO | errno.ENOSYS
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_SET_MODE_FILTER, _WITHOUT_MITIGATION = 1, 1 << 2
"""Speculation stays as fast as outside: the filter guards the machine, not one half of the process from the other."""
_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020000
"""The flags of clone(2) that ask for namespaces: CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET."""
_CLONE3 = 435
_IO_URING_SETUP = 425
_REFUSED_EVERYWHERE = (_IO_URING_SETUP, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)
"""io_uring_*, open_tree, move_mount, fs*, pidfd_getfd, mount_setattr: numbers all machines share."""
_REFUSED = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "init_module": (175, 105), "ioperm": (173, None),
    "iopl": (172, None), "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "mount": (165, 40), "mq_open": (240, 180), "msgget": (68, 186),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "perf_event_open": (298, 241),
    "pivot_root": (155, 41), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "semget": (64, 190),
    "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170),
    "shmget": (29, 194), "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip


@dataclass(frozen=True)
class _Machine:
    """Where its numbers stand in `_REFUSED`, what seccomp calls it, and the calls whose arguments are looked at."""

    column: int
    audit_architecture: int
    socket: int
    connect: int
    clone: int
    prlimit: int
    seccomp: int
    foreign_from: int | None


MACHINES = {
    "x86_64": _Machine(
        0, 0xC000003E, socket=41, connect=42, clone=56, prlimit=302, seccomp=317, foreign_from=0x40000000
    ),
    "aarch64": _Machine(1, 0xC00000B7, socket=198, connect=203, clone=220, prlimit=261, seccomp=277, foreign_from=None),
}


@cache
def program(machine: str, *, network: bool = False) -> bytes:
    """The filter for that machine; with `network` sockets of every family are allowed. KeyError for an unknown one."""
    own = MACHINES[machine]
    code = _native_calls_only(own)
    if not network:
        code += _looked_at(own.socket, _op(_EQUAL, _AF_UNIX, 0, 1), _ALLOW, _REFUSE)
        code += [_op(_EQUAL, own.connect, 0, 1), _op(_RETURN, _REFUSE)]  # services of this machine: agents, containers
    code += _looked_at(own.clone, _op(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _REFUSE, _ALLOW)
    code += _looked_at(own.prlimit, _op(_EQUAL, 0, 0, 1), _ALLOW, _REFUSE)  # its own limits, not another process's
    code += [_op(_EQUAL, _CLONE3, 0, 1), _op(_RETURN, _ABSENT)]  # its flags lie in memory: callers fall back on clone
    refused = [numbers[own.column] for numbers in _REFUSED.values()]
    for number in sorted([*_REFUSED_EVERYWHERE, *(one for one in refused if one is not None)]):
        code += [_op(_EQUAL, number, 0, 1), _op(_RETURN, _REFUSE)]
    return b"".join([*code, _op(_RETURN, _ALLOW)])


@cache
def offline(machine: str) -> bytes:
    """A filter that refuses sockets to other machines and leaves all else open. KeyError for an unknown machine."""
    own = MACHINES[machine]
    code = _native_calls_only(own) + _looked_at(own.socket, _op(_EQUAL, _AF_UNIX, 0, 1), _ALLOW, _REFUSE)
    code += [_op(_EQUAL, _IO_URING_SETUP, 0, 1), _op(_RETURN, _REFUSE)]  # another way to a socket
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def install(code: bytes) -> None:
    """Puts a filter around this thread and what it starts, for good. Raises OSError where the kernel refuses."""
    text = ctypes.create_string_buffer(code, len(code))
    filled = struct.pack("@HP", len(code) // 8, ctypes.addressof(text))
    native.renounce_privileges()
    number = MACHINES[native.MACHINE].seccomp
    native.call(number, _SET_MODE_FILTER, _WITHOUT_MITIGATION, ctypes.create_string_buffer(filled, len(filled)))


def _native_calls_only(own: _Machine) -> list[bytes]:
    """Return the beginning of every filter: load the number of a call of this machine's own kind, or refuse it."""
    code = [_op(_LOAD, _ARCHITECTURE_AT), _op(_EQUAL, own.audit_architecture, 1, 0), _op(_RETURN, _REFUSE)]
    code += [_op(_LOAD, _NUMBER_AT)]
    if own.foreign_from is not None:  # the x32 numbers would be another way to every call
        code += [_op(_AT_LEAST, own.foreign_from, 0, 1), _op(_RETURN, _REFUSE)]
    return code


def _looked_at(number: int, test: bytes, then: int, otherwise: int) -> list[bytes]:
    """For that call a test of its first argument's low half decides; every other call goes on behind."""
    return [
        _op(_EQUAL, number, 0, 4),
        _op(_LOAD, _FIRST_ARGUMENT_AT),
        test,
        _op(_RETURN, then),
        _op(_RETURN, otherwise),
    ]


def _op(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)
