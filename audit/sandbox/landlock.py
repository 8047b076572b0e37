"""Landlock: limit the files that a process may read and write, on Linux 5.19 or newer with Landlock enabled.

It also keeps signals, abstract sockets, ptrace and `/proc/<pid>/fd` away from processes outside the domain. Numbers are
those of Linux' `uapi/linux/landlock.h` (https://docs.kernel.org/userspace-api/landlock.html).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress

from audit.sandbox import native

LEAST_ABI = 2
"""Version 1, of kernel 5.13, refuses every rename across folders, which compilers need."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK = 1 << 8, 1 << 9, 1 << 10, 1 << 11
MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = 1 << 12, 1 << 13, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
RESULTS = READ | WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE
"""For a folder whose files the judge reads: regular files alone."""
SCRATCH = RESULTS | MAKE_DIR | REMOVE_DIR | MAKE_SOCK | MAKE_SYM | MAKE_FIFO | REFER
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_NEWER = {3: TRUNCATE, 5: IOCTL_DEV}
"""The rights that a kernel can refuse from that version on."""
_NET_ABI, _SCOPE_ABI = 4, 6


def abi() -> int:
    """Return the version the kernel offers; 0 where there is none or it is switched off."""
    if native.switched_off("landlock"):
        return 0
    try:
        return native.call(_CREATE, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[tuple[str, int]], *, tcp: bool = False) -> None:
    """Limit this thread and its descendants to the rules, for good.

    Args:
        rules: paths, with the rights below them; a path that does not exist is left out.
        tcp: leave TCP connections allowed.

    Raises:
        OSError: the kernel refused; nothing is restricted then.
    """
    version = abi()
    rights = (REFER << 1) - 1 | sum(right for since, right in _NEWER.items() if version >= since)
    ruleset = _ruleset(version, rights, tcp=tcp)
    try:
        for path, allowed in rules:
            with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                _allow(ruleset, path, allowed & rights)
        native.renounce_privileges()
        native.call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _ruleset(version: int, rights: int, *, tcp: bool) -> int:
    numbers = [rights]
    if version >= _NET_ABI:
        numbers.append(0 if tcp else _TCP)
    if version >= _SCOPE_ABI:
        numbers.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    packed = struct.pack(f"={len(numbers)}Q", *numbers)
    return native.call(_CREATE, ctypes.create_string_buffer(packed, len(packed)), len(packed), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        own = rights if stat.S_ISDIR(os.fstat(parent).st_mode) else rights & _OF_A_FILE
        rule = struct.pack("=Qi", own, parent)
        native.call(_ADD, ruleset, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(parent)
