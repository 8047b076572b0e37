"""In a supervisor: the socket to a session's process, the process at its other end, and where it waits for a key."""

from __future__ import annotations

import platform
import secrets
import select
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path

from audit.run.transcript import LONGEST, ProtocolViolation, Transcript

CREDENTIALS = struct.Struct("=iII")
RECVFROM = {"x86_64": "45", "aarch64": "207"}
"""The number of the system call in which a process waits for its key."""
PAUSE_S, IDLE_S = 0.0001, 0.05
ASKED_S, TAKEN_S = 5.0, 1.0
"""Seconds in which code that asked for a key must wait for it, and in which it must go on once the key was sent."""
ELSEWHERE = "a key was asked for from elsewhere than the session's own code"
TAKEN = "a key was taken by others than the code it was for"


class Channel:
    """The parent's end, for all sessions of one process.

    The kernel stamps every datagram with the process that sent it. Where `/proc` shows in which system call a process
    waits (Linux; not under every sandbox), a key is sent only to a process that waits for it at the same instruction,
    with the same stack, as for the session's first key, which is asked for before its claimed code is loaded; the
    instruction is the same for all sessions of a process. Nothing here waits: the watch over the session goes on while
    a key is due.
    """

    def __init__(self) -> None:
        self._mine, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._secret = secrets.token_bytes(32)
        self._sender: int | None = None
        self._instruction: str | None = None
        self._place: str | None = None
        self._due: bytes | None = None
        self._since = 0.0
        self.transcript = Transcript(self._secret)
        self.arrived_s: list[float] = []

    def fileno(self) -> int:
        """For `select`."""
        return self._mine.fileno()

    @property
    def attested(self) -> bool:
        """Whether `/proc` showed where the session waited for its keys."""
        return self._place is not None

    @property
    def pause_s(self) -> float:
        """Seconds to wait for a datagram before the next look: hardly any where a key is due."""
        return IDLE_S if self._due is None else PAUSE_S

    def start(self) -> None:
        """Begin a new session: a new nonce, and no events yet."""
        self.transcript, self._place, self._due, self.arrived_s = Transcript(self._secret), None, None, []
        self._started = time.monotonic()

    def take(self) -> bool:
        """Take one datagram and look whether a key is due; False at the channel's end.

        Raises:
            ProtocolViolation: see `Transcript.feed` and `look`; or it came from another process.
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
        """Send the key that is due once the process that asked for it waits for it where it must.

        Raises:
            ProtocolViolation: it waits elsewhere, or is not on its way there; or it waits on, though its key was sent.
        """
        if self._due is not None:
            self._send_key(self._due)
        elif self.transcript.key_is_out and self._elapsed_s() > TAKEN_S and self._waits_on():
            raise ProtocolViolation(TAKEN)

    def close(self) -> None:
        """Close the parent's end."""
        self._mine.close()

    def _send_key(self, grant: bytes) -> None:
        first = self.transcript.keys_asked == 1
        place = _waiting(self._sender) if first or self._place is not None else None
        if first and place and self._instruction in (None, _instruction(place)):
            self._place, self._instruction = place, _instruction(place)
        if place == self._place and (place or self._instruction is None):
            self._due, self._since = None, time.monotonic()
            with suppress(OSError):  # the process may have ended meanwhile; the watch sees that
                self._mine.send(grant)
        elif place or self._elapsed_s() > ASKED_S:
            raise ProtocolViolation(ELSEWHERE)

    def _waits_on(self) -> bool:
        """Whether the process waits where it waits for keys, with no datagram of it left to read."""
        waits = self._place is not None and _waiting(self._sender) == self._place
        return waits and not select.select([self._mine], [], [], 0)[0]

    def _elapsed_s(self) -> float:
        """Seconds since a key was asked for, or sent."""
        return time.monotonic() - self._since


def _sender(stamps: list[tuple[int, int, bytes]]) -> int | None:
    """Return the process that sent a datagram by the kernel's stamp; None without one."""
    for level, kind, data in stamps:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(data) >= CREDENTIALS.size:
            return int(CREDENTIALS.unpack_from(data)[0]) or None
    return None


def _waiting(pid: int | None) -> str | None:
    """Return how a process's main thread waits for a message: system call, arguments, stack, instruction.

    Empty while it does something else; None where `/proc` does not show it or the process has ended.
    """
    number = RECVFROM.get(platform.machine())
    if number is None or pid is None:
        return None
    try:
        place = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii")
    except OSError:
        return None
    return place if place.startswith(f"{number} ") else ""


def _instruction(place: str) -> str:
    return place.rpartition(" ")[2]
