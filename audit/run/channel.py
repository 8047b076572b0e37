"""In a supervisor: the socket to a session's process, and the check of all that comes from there.

A datagram is a header and bytes: the beginning (`BEGUN`), which our code sends before claimed code is loaded, a part of
an event (`PART`), its last part (`EVENT`), or the end of the session (`SERVED`). A header has the datagram's number and
the nonce that the session was sent before its request. One out of order, repeated, too long, with another nonce or from
another process than the first is a `ProtocolViolation`.

Limits: this notices accidents, and code that writes where it finds a descriptor. Claimed code shares the address space
of the code that reports on it: native code that finds the nonce there can send an event in its place.
"""

from __future__ import annotations

import secrets
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field

MOST_BYTES = 64 << 20
"""A session that sends more than this is stopped."""
LONGEST = 64 << 10
"""Bytes of a datagram; a part is 48 KiB at most."""
HEADER = struct.Struct("=c7xQ16s")
BEGUN, PART, EVENT, SERVED = b"B", b"P", b"E", b"S"
NONCE_BYTES = 16
UNKNOWN = "bytes came that are no message of a session"
CREDENTIALS = struct.Struct("=iII")


class ProtocolViolation(Exception):
    """A message on a session's channel that our code did not send; the text describes it."""


@dataclass
class Transcript:
    """One session so far: its events, and the number of its datagrams."""

    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(NONCE_BYTES))
    events: list[bytes] = field(default_factory=list)
    served: bool = False
    sequence: int = 0
    _parts: bytearray = field(default_factory=bytearray)
    _received: int = 0

    def feed(self, datagram: bytes) -> None:
        """Take one datagram. Raises ProtocolViolation: another datagram is due. The session is over and its events do
        not count."""
        if self.served:
            raise ProtocolViolation("a message came after the session's last one")
        kind, sequence, nonce = HEADER.unpack_from(datagram) if len(datagram) >= HEADER.size else (b"", 0, b"")
        part = datagram[HEADER.size :]
        if kind not in (BEGUN, PART, EVENT, SERVED) or nonce != self.nonce:
            raise ProtocolViolation(UNKNOWN)
        empty = not part and not self._parts
        if sequence != self.sequence or (kind == BEGUN) != (sequence == 0) or not (empty or kind in (PART, EVENT)):
            raise ProtocolViolation(f"message {sequence} came at a wrong place, while message {self.sequence} is due")
        self.sequence += 1
        self._received += len(part)
        if self._received > MOST_BYTES:
            raise ProtocolViolation(f"more than {MOST_BYTES >> 20} MiB were told")
        self._parts += part
        if kind == EVENT:
            self.events.append(bytes(self._parts))
            self._parts.clear()
        self.served = kind == SERVED


class Channel:
    """The parent's end, for all sessions of one process. The kernel stamps every datagram with its sender."""

    def __init__(self) -> None:
        self._mine, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._sender: int | None = None
        self.transcript = Transcript()
        self.arrived_s: list[float] = []

    def fileno(self) -> int:
        """Return the socket, for `select`."""
        return self._mine.fileno()

    def start(self) -> None:
        """Begin a new session: send a new nonce; there are no events yet."""
        self.transcript, self.arrived_s, self._started = Transcript(), [], time.monotonic()
        with suppress(OSError):  # a reused process may have ended; `Child._watch` sees it
            self._mine.send(self.transcript.nonce, socket.MSG_DONTWAIT)

    def take(self) -> bool:
        """Take one datagram; return False at the channel's end. Raises ProtocolViolation: see `Transcript.feed`; or
        another process sent the datagram."""
        try:
            datagram, stamps, flags, _ = self._mine.recvmsg(LONGEST, socket.CMSG_SPACE(CREDENTIALS.size))
        except ConnectionResetError:  # the process ended with its nonce unread
            return False
        if not datagram:
            return False
        if flags & socket.MSG_TRUNC:
            raise ProtocolViolation(f"a datagram of more than {LONGEST} bytes")
        sender = _sender(stamps)
        self._sender = self._sender or sender
        if sender != self._sender:
            raise ProtocolViolation("a message came from another process than the session's")
        self.transcript.feed(datagram)
        if len(self.arrived_s) < len(self.transcript.events):
            self.arrived_s.append(time.monotonic() - self._started)
        return True

    def close(self) -> None:
        """Close the parent's end."""
        self._mine.close()


def _sender(stamps: list[tuple[int, int, bytes]]) -> int | None:
    """Return the sender of a datagram by the kernel's stamp; None without one."""
    wanted = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    found = (data for level, kind, data in stamps if (level, kind) == wanted and len(data) >= CREDENTIALS.size)
    return next((int(CREDENTIALS.unpack_from(data)[0]) or None for data in found), None)
