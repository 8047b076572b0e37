"""A notebook without a network from here on: the kernel and all it starts afterwards, and nothing puts it back.

A seccomp filter (seccomp(2)) refuses sockets of every family but AF_UNIX with EPERM. The sockets the kernel has already
stay, over which it talks to the browser. No rights are needed for it, and children inherit it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from dataclasses import dataclass

from audit.errors import BadInput

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of classic BPF: load a word, jump if equal, jump if at least, return."""
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data`."""
AF_UNIX, IO_URING_SETUP, X32 = 1, 425, 0x40000000


@dataclass(frozen=True)
class Machine:
    """What seccomp calls a machine, and its number of socket(2)."""

    architecture: int
    socket: int


MACHINES = {"x86_64": Machine(0xC000003E, 41), "aarch64": Machine(0xC00000B7, 198)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def cut() -> None:
    """Takes the network from this thread and all it starts from now on.

    Raises:
        BadInput: this machine has no such filter.
    """
    machine, libc = MACHINES.get(platform.machine()), ctypes.CDLL(None, use_errno=True)
    if machine is None:
        raise BadInput(f"parameter network_off: not known how on {platform.machine()}; leave it off")
    code = program(machine)
    told = _Program(len(code) // 8, code)
    refused = libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if refused or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(told), 0, 0):
        why = os.strerror(ctypes.get_errno())
        raise BadInput(f"parameter network_off: this machine offers no filter of system calls ({why}); leave it off")


def program(machine: Machine) -> bytes:
    """The filter in classic BPF: calls of a foreign kind, io_uring, which makes sockets too, and foreign sockets."""
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 0, 7, machine.architecture),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 5, 0, X32),
        (EQUAL, 4, 0, IO_URING_SETUP),
        (EQUAL, 0, 2, machine.socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUAL, 0, 1, AF_UNIX),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
