"""seccomp: refuse with EPERM the system calls that an escape needs and a kernel does not; no process is killed.

A filter is a BPF program, see https://docs.kernel.org/userspace-api/seccomp_filter.html. System call numbers are from
`asm/unistd.h`, instruction codes from `linux/bpf_common.h`.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

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
_REFUSED_EVERYWHERE = (_IO_URING_SETUP, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 447, 467)
"""io_uring_*, open_tree, move_mount, fs*, pidfd_getfd, mount_setattr, quotactl_fd, memfd_secret, open_tree_attr. All
machines share these numbers."""
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
    "unshare": (272, 97), "userfaultfd": (323, 282), "vmsplice": (278, 75),
}  # fmt: skip
_SENDS_DESCRIPTORS = {"sendmsg": (46, 211), "sendmmsg": (307, 269)}
"""A descriptor in flight through a socket belongs to no process: its file would escape every limit."""
_METADATA_EVERYWHERE = (452, 463, 466, 469)
"""fchmodat2, setxattrat, removexattrat, file_setattr."""
_METADATA = {
    "chmod": (90, None), "chown": (92, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchown": (93, 55),
    "fchownat": (260, 54), "fremovexattr": (199, 16), "fsetxattr": (190, 7), "futimesat": (261, None),
    "lchown": (94, None), "lremovexattr": (198, 15), "lsetxattr": (189, 6), "removexattr": (197, 14),
    "setxattr": (188, 5), "utime": (132, None), "utimensat": (280, 88), "utimes": (235, None),
}  # fmt: skip
"""Rights, owners, times and extended attributes: Landlock knows none of them."""
_LEASES = (1024, 1026, 1040)
"""F_SETLEASE, F_NOTIFY and F_SETDELEG of fcntl(2): with a lease, every other process waits when it opens the file."""
_FILE_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602)
"""FS_IOC_SETFLAGS (64 and 32 bit), FS_IOC_FSSETXATTR and FS_IOC_SETVERSION of ioctl(2)."""


_TESTED = {
    "clone": (56, 220), "connect": (42, 203), "fcntl": (72, 25), "ioctl": (16, 29), "prlimit64": (302, 261),
    "seccomp": (317, 277), "socket": (41, 198),
}  # fmt: skip
"""Calls whose arguments are tested, and the one that installs a filter."""


class _Machine(NamedTuple):
    """An architecture: its column in the tables of numbers, its AUDIT_ARCH number, and the first number of the x32
    calls, a second way to every call; None where there are none."""

    column: int
    audit_architecture: int
    x32_from: int | None

    def number(self, call: str) -> int:
        """Return the number of a call of `_TESTED`."""
        return _TESTED[call][self.column]


MACHINES = {"x86_64": _Machine(0, 0xC000003E, 0x40000000), "aarch64": _Machine(1, 0xC00000B7, None)}


@cache
def program(machine: str, *, network: bool = False, metadata: bool = False) -> bytes:
    """Return the filter for that machine.

    Args:
        machine: as uname(2) names it; KeyError for an unknown one.
        network: allow sockets of every family, and messages with descriptors.
        metadata: allow changes of rights, times and attributes of files; the mounts say of which files.
    """
    own = MACHINES[machine]
    code = _native_calls_only(own) + _refuse_by_second_argument(own.number("fcntl"), _LEASES)
    named: dict[str, tuple[int, int | None]] = dict(_REFUSED)
    everywhere = list(_REFUSED_EVERYWHERE)
    if not metadata:
        code += _refuse_by_second_argument(own.number("ioctl"), _FILE_FLAGS)
        named |= _METADATA
        everywhere += _METADATA_EVERYWHERE
    if not network:
        named |= _SENDS_DESCRIPTORS
        code += _decide_by_first_argument(own.number("socket"), _op(_EQUAL, _AF_UNIX, 0, 1), _ALLOW, _REFUSE)
        code += [
            _op(_EQUAL, own.number("connect"), 0, 1),
            _op(_RETURN, _REFUSE),
        ]  # services of this machine: agents, containers
    code += _decide_by_first_argument(own.number("clone"), _op(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _REFUSE, _ALLOW)
    code += _decide_by_first_argument(
        own.number("prlimit64"), _op(_EQUAL, 0, 0, 1), _ALLOW, _REFUSE
    )  # 0: the calling process
    code += [_op(_EQUAL, _CLONE3, 0, 1), _op(_RETURN, _ABSENT)]  # its flags are in memory: callers fall back on clone
    refused = [numbers[own.column] for numbers in named.values()]
    for number in sorted([*everywhere, *(one for one in refused if one is not None)]):
        code += [_op(_EQUAL, number, 0, 1), _op(_RETURN, _REFUSE)]
    return b"".join([*code, _op(_RETURN, _ALLOW)])


@cache
def offline(machine: str) -> bytes:
    """Return a filter that refuses sockets to other machines alone. KeyError for an unknown machine."""
    own = MACHINES[machine]
    code = _native_calls_only(own)
    code += _decide_by_first_argument(own.number("socket"), _op(_EQUAL, _AF_UNIX, 0, 1), _ALLOW, _REFUSE)
    code += [_op(_EQUAL, _IO_URING_SETUP, 0, 1), _op(_RETURN, _REFUSE)]  # another way to a socket
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def install(code: bytes) -> None:
    """Install a filter in this thread and its descendants, for good. Raises OSError where the kernel refuses."""
    if native.switched_off("seccomp"):
        raise OSError(errno.ENOSYS, "seccomp is switched off")
    text = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(text))
    native.renounce_privileges()
    number = MACHINES[native.MACHINE].number("seccomp")
    native.call(number, _SET_MODE_FILTER, _WITHOUT_MITIGATION, ctypes.create_string_buffer(header, len(header)))


def _native_calls_only(own: _Machine) -> list[bytes]:
    """Return the beginning of every filter: load the call's number, and refuse calls of another architecture."""
    code = [_op(_LOAD, _ARCHITECTURE_AT), _op(_EQUAL, own.audit_architecture, 1, 0), _op(_RETURN, _REFUSE)]
    code += [_op(_LOAD, _NUMBER_AT)]
    if own.x32_from is not None:
        code += [_op(_AT_LEAST, own.x32_from, 0, 1), _op(_RETURN, _REFUSE)]
    return code


def _decide_by_first_argument(number: int, test: bytes, then: int, otherwise: int) -> list[bytes]:
    """Return instructions that decide that call by a test of its first argument's low half; other calls pass on."""
    return [
        _op(_EQUAL, number, 0, 4),
        _op(_LOAD, _FIRST_ARGUMENT_AT),
        test,
        _op(_RETURN, then),
        _op(_RETURN, otherwise),
    ]


def _refuse_by_second_argument(number: int, values: Sequence[int]) -> list[bytes]:
    """Return instructions that refuse that call if its second argument's low half is one of `values`, else allow it."""
    tests = [op for value in values for op in (_op(_EQUAL, value, 0, 1), _op(_RETURN, _REFUSE))]
    decide = [_op(_LOAD, _FIRST_ARGUMENT_AT + 8), *tests, _op(_RETURN, _ALLOW)]
    return [_op(_EQUAL, number, 0, len(decide)), *decide]


def _op(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)
