"""In a supervisor: the socket to a session's process, and the check of all that its native code sends there.

Before each event a session asks for a key (`A`), gets a grant, sends the event in parts (`D`) and then the message
(`M`) with a BLAKE2b tag under that key, which it erases; every event has its own key. `BEGUN` precedes the first event
and `SERVED` follows the last. A datagram out of order, repeated, too long, or with another nonce, sequence or tag is
not from that code: a `ProtocolViolation`. So is `!`, by which that code reports a call at a wrong moment.

Limits: claimed code shares the address space of the code that reports on it. Native code that searches memory for the
process's secret, steals the grant from the socket and imitates our code can forge events. It is only hard to do unseen:
the secret is on a page that cannot be read between messages and that no forked child has, and the parent checks where
the process waits for a key.
"""

from __future__ import annotations

import hashlib
import hmac
import platform
import secrets
import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MOST_BYTES = 64 << 20
"""A session that sends more than this is stopped."""
LONGEST = 64 << 10
"""Bytes of a datagram; a part is 48 KiB at most."""
ASK = PART = struct.Struct("=c7xQ")
MESSAGE = struct.Struct("=cB6xQ16sQ32s")
GRANT = struct.Struct("=16sQ32s32s")
EVENT, SERVED, BEGUN = 1, 2, 4
TAKEN = "a key was taken by others than the code it was for"
ALARMS = {
    b"g": TAKEN,
    b"h": "a session was started within a session",
    b"t": "an event was told at a wrong moment or by another thread",
    b"n": "an event was told twice",
}
UNKNOWN = "bytes came that are no message of a session"
CREDENTIALS = struct.Struct("=iII")
RECVFROM = {"x86_64": "45", "aarch64": "207"}
"""The number of the system call in which a process waits for its key."""
PAUSE_S, IDLE_S = 0.0001, 0.05
ASKED_S, TAKEN_S = 5.0, 1.0
"""Seconds within which code that asked for a key must wait for it, and within which it must go on after it."""
ELSEWHERE = "a key was asked for from elsewhere than the session's own code"


class ProtocolViolation(Exception):
    """A message on a session's channel that our code did not send; the text describes it."""


@dataclass
class Transcript:
    """One session so far: its events, and the number of its messages. All sessions of a process share its `secret`."""

    secret: bytes
    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    events: list[bytes] = field(default_factory=list)
    served: bool = False
    sequence: int = 0
    _key: bytes | None = None
    _parts: bytearray = field(default_factory=bytearray)
    _received: int = 0

    @property
    def key_is_out(self) -> bool:
        """Whether the message for the last key is still due."""
        return self._key is not None

    def feed(self, datagram: bytes) -> bytes | None:
        """Take one datagram; return the grant where it asks for a key.

        Raises:
            ProtocolViolation: another datagram is due. The session is over and its events do not count.
        """
        if self.served:
            raise ProtocolViolation("a message came after the session's last one")
        kind = datagram[:1]
        if kind == b"A" and len(datagram) == ASK.size:
            return self._granted(*ASK.unpack(datagram)[1:])
        if kind == b"D" and len(datagram) > PART.size:
            self._part(datagram)
        elif kind == b"M" and len(datagram) == MESSAGE.size:
            self._message(datagram)
        else:
            raise ProtocolViolation(ALARMS.get(datagram[1:], UNKNOWN) if kind == b"!" else UNKNOWN)
        return None

    def _granted(self, sequence: int) -> bytes:
        if self._key is not None:
            raise ProtocolViolation("a key was asked for before the last one was used")
        if sequence != self.sequence:
            raise ProtocolViolation(f"a key was asked for message {sequence}, while message {self.sequence} is due")
        self._key = secrets.token_bytes(32)
        return GRANT.pack(self.nonce, sequence, self._key, self.secret)

    def _part(self, datagram: bytes) -> None:
        if self._key is None or PART.unpack_from(datagram)[1] != self.sequence:
            raise ProtocolViolation("a part of a message came without a key")
        self._received += len(datagram) - PART.size
        if self._received > MOST_BYTES:
            raise ProtocolViolation(f"more than {MOST_BYTES >> 20} MiB were told")
        self._parts += datagram[PART.size :]

    def _message(self, datagram: bytes) -> None:
        _, what, sequence, nonce, length, tag = MESSAGE.unpack(datagram)
        key, payload = self._key, bytes(self._parts)
        if key is None:
            raise ProtocolViolation("a message came without a key")
        signed = self.secret + datagram[: -len(tag)] + payload
        due = hmac.compare_digest(tag, hashlib.blake2b(signed, key=key, digest_size=len(tag)).digest())
        if not due or (sequence, nonce, length) != (self.sequence, self.nonce, len(payload)):
            raise ProtocolViolation("a message was not sealed with the key of its moment")
        self._key, self._parts, self.sequence = None, bytearray(), sequence + 1
        if (what == BEGUN) != (sequence == 0) or what not in (EVENT, SERVED, BEGUN) or (payload and what != EVENT):
            raise ProtocolViolation(f"a message of kind {what} at a wrong place")
        if what == EVENT:
            self.events.append(payload)
        self.served = what == SERVED


class Channel:
    """The parent's end, for all sessions of one process.

    The kernel stamps every datagram with its sender. `/proc` may show the system call in which a process waits (Linux;
    not under every sandbox). Then a key is sent only to a process that waits at the same instruction and with the same
    stack as for the session's first key, requested before claimed code is loaded; the instruction is the same in all
    sessions of a process. No method blocks: the supervisor watches the session while a key is due.
    """

    def __init__(self) -> None:
        self._mine, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._secret = secrets.token_bytes(32)
        self._sender: int | None = None
        self._instruction: str | None = None
        self._frame: str | None = None
        self._due: bytes | None = None
        self._since = 0.0
        self.transcript = Transcript(self._secret)
        self.arrived_s: list[float] = []

    def fileno(self) -> int:
        """Return the socket, for `select`."""
        return self._mine.fileno()

    @property
    def attested(self) -> bool:
        """Whether `/proc` showed where the session waited for its keys."""
        return self._frame is not None

    @property
    def pause_s(self) -> float:
        """Seconds to wait for a datagram: hardly any where a key is due."""
        return IDLE_S if self._due is None else PAUSE_S

    def start(self) -> None:
        """Begin a new session: a new nonce, and no events yet."""
        self.transcript, self._frame, self._due, self.arrived_s = Transcript(self._secret), None, None, []
        self._started = time.monotonic()

    def take(self) -> bool:
        """Take one datagram and send a key that is due; return False at the channel's end.

        Raises:
            ProtocolViolation: see `Transcript.feed` and `look`; or another process sent the datagram.
        """
        try:
            datagram, stamps, flags, _ = self._mine.recvmsg(LONGEST, socket.CMSG_SPACE(CREDENTIALS.size))
        except ConnectionResetError:  # the process ended with a grant unread
            return False
        if not datagram:
            return False
        if flags & socket.MSG_TRUNC:
            raise ProtocolViolation(f"a datagram of more than {LONGEST} bytes")
        sender = _sender(stamps)
        self._sender = self._sender or sender
        if sender != self._sender:
            raise ProtocolViolation("a message came from another process than the session's")
        grant = self.transcript.feed(datagram)
        while len(self.arrived_s) < len(self.transcript.events):
            self.arrived_s.append(time.monotonic() - self._started)
        if grant is not None:
            self._due, self._since = grant, time.monotonic()
            self.look()
        return True

    def look(self) -> None:
        """Send the key that is due, once the process waits for it.

        Raises:
            ProtocolViolation: the process waits elsewhere, not in time, or still after its key was sent.
        """
        if self._due is not None:
            self._send_key(self._due)
        elif self.transcript.key_is_out and self._elapsed_s() > TAKEN_S and self._waits_on():
            raise ProtocolViolation(TAKEN)

    def close(self) -> None:
        """Close the parent's end."""
        self._mine.close()

    def _send_key(self, grant: bytes) -> None:
        first = self.transcript.sequence == 0
        frame = _waiting(self._sender) if first or self._frame is not None else None
        if first and frame and self._instruction in (None, _instruction(frame)):
            self._frame, self._instruction = frame, _instruction(frame)
        if frame == self._frame and (frame or self._instruction is None):
            self._due, self._since = None, time.monotonic()
            with suppress(OSError):  # the process may have ended meanwhile; `Child._watch` sees that
                self._mine.send(grant)
        elif frame or self._elapsed_s() > ASKED_S:
            raise ProtocolViolation(ELSEWHERE)

    def _waits_on(self) -> bool:
        """Return whether the process still waits for a key and has sent no datagram."""
        waits = self._frame is not None and _waiting(self._sender) == self._frame
        return waits and not select.select([self._mine], [], [], 0)[0]

    def _elapsed_s(self) -> float:
        """Return the seconds since a key was asked for, or sent."""
        return time.monotonic() - self._since


def _sender(stamps: list[tuple[int, int, bytes]]) -> int | None:
    """Return the sender of a datagram by the kernel's stamp; None without one."""
    wanted = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    found = (data for level, kind, data in stamps if (level, kind) == wanted and len(data) >= CREDENTIALS.size)
    return next((int(CREDENTIALS.unpack_from(data)[0]) or None for data in found), None)


def _waiting(pid: int | None) -> str | None:
    """Return system call, arguments, stack and instruction of a process whose main thread waits for a message.

    Empty while it does something else; None where `/proc` does not show it or the process has ended.
    """
    number = RECVFROM.get(platform.machine())
    if number is None or pid is None:
        return None
    try:
        frame = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii")
    except OSError:
        return None
    return frame if frame.startswith(f"{number} ") else ""


def _instruction(frame: str) -> str:
    return frame.rpartition(" ")[2]
