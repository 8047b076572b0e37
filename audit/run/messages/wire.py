"""What goes between processes: requests and replies of the kit's own, and the events of a session.

A request is its length, its JSON, and descriptors; a reply is a line of JSON. A session's events come as datagrams: a
header and bytes, which are the beginning (`BEGUN`), which our code sends before claimed code is loaded, a part of an
event (`PART`), its last part (`EVENT`), or the end of the session (`SERVED`). A header has the datagram's number and
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
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, TypeAdapter

from audit.model.base import Frozen
from audit.run.messages import requests, timing_requests

LENGTH = struct.Struct("=Q")
MOST_DESCRIPTORS = 4
FORK, SETTLE, COMPILER = b"f", b"s", b"c"
"""The judge's commands to the fork server: fork a supervisor for two descriptors; end all descendants; import
torch.compile."""
RAISED = 70
"""The exit code of a process whose session raised an exception, after its traceback."""


AnyRequest = Annotated[
    requests.Release
    | requests.SandboxCheck
    | requests.Session
    | requests.Launches
    | requests.Cases
    | requests.Variations
    | requests.Work
    | requests.Described
    | requests.Sized
    | timing_requests.Interleaved
    | timing_requests.Published
    | timing_requests.Alone
    | timing_requests.Compiled,
    Field(discriminator="kind"),
]
_PARSED: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)


class Ended(Frozen):
    """How a session ended, as its supervisor saw it.

    Attributes:
        finished: it ran to its end, and its process goes on; otherwise the process is over.
        lines: the events, JSON.
        arrived_s: the arrival of each by the supervisor's clock, in seconds since the request.
        violation: the protocol violation in words, if any.
        timed_out: it exceeded the limit of its request.
        stopped: the exceeded bound, in words.
        signal: the signal that ended the process.
        exit: the exit code of the process.
        prints: the end of its standard output and error.
    """

    finished: bool
    lines: tuple[str, ...] = ()
    arrived_s: tuple[float, ...] = ()
    violation: str | None = None
    timed_out: bool = False
    stopped: str | None = None
    signal: int | None = None
    exit: int | None = None
    prints: str = ""


def send(channel: socket.socket, request: requests.Request, descriptors: Sequence[int] = ()) -> None:
    """Write one request. Raises OSError where the other end is closed."""
    data = request.model_dump_json().encode()
    socket.send_fds(channel, [LENGTH.pack(len(data))], descriptors)
    channel.sendall(data)


def receive(channel: socket.socket) -> tuple[AnyRequest, list[int]] | None:
    """Return the next request and its descriptors, which the caller closes; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(channel, LENGTH.size, MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
    head += _exactly(channel, LENGTH.size - len(head)) if head else b""
    data = _exactly(channel, LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    return (parsed(data), list(descriptors)) if data else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    """Return `size` bytes; none where the channel ends before."""
    got = bytearray()
    while len(got) < size and (chunk := channel.recv(size - len(got))):
        got += chunk
    return bytes(got) if len(got) == size else b""


def parsed(text: str | bytes) -> AnyRequest:
    """Return the request of a JSON text. Raises ValidationError, which names the key at fault."""
    return _PARSED.validate_json(text)


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
        """Take one datagram. Raises ProtocolViolation: another is due; the session is over, its events do not count."""
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
