"""In a zygote: the socket to a session's process, who is at its other end, and where that process waits for a key."""

from __future__ import annotations

import contextlib
import platform
import secrets
import socket
import struct
import time
from pathlib import Path

from audit.worker.transcript import LONGEST, Forged, Transcript

CREDENTIALS = struct.Struct("=iII")
RECVFROM = {"x86_64": "45", "aarch64": "207"}
"""The number of the system call in which a process waits for its key."""
PAUSE_S = 0.0001


class Channel:
    """The parent's end, for all sessions of one process.

    The kernel stamps every datagram with the process that sent it. Where `/proc` tells in which system call a process
    waits (Linux; not under every sandbox), a key is handed out only to a process that waits for it at the same
    instruction, with the same stack, as for the key before claimed code was loaded.
    """

    def __init__(self) -> None:
        self._mine, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._secret = secrets.token_bytes(32)
        self._sender: int | None = None
        self._place: str | None = None
        self.transcript = Transcript(self._secret)
        self.arrived_s: list[float] = []

    def fileno(self) -> int:
        """For `select`."""
        return self._mine.fileno()

    @property
    def attested(self) -> bool:
        """Whether it was seen where the session waited for its keys."""
        return self._place is not None

    def start(self) -> None:
        """A new session begins: a new nonce, and nothing told yet."""
        self.transcript, self._place, self.arrived_s = Transcript(self._secret), None, []
        self._started = time.monotonic()

    def take(self, *, deadline: float) -> bool:
        """Takes one datagram and answers it, until that moment of the monotonic clock; False at the channel's end.

        Raises:
            Forged: see `Transcript.feed`; or it came from another process, or from elsewhere in the process.
        """
        try:
            datagram, told, flags, _ = self._mine.recvmsg(LONGEST, socket.CMSG_SPACE(CREDENTIALS.size))
        except ConnectionResetError:  # the process ended with a grant unread
            return False
        if not datagram:
            return False
        if flags & socket.MSG_TRUNC:
            raise Forged(f"a datagram of more than {LONGEST} bytes")
        sender = _sender(told)
        self._sender = self._sender or sender
        if sender != self._sender:
            raise Forged("a message came from another process than the session's")
        grant = self.transcript.feed(datagram)
        while len(self.arrived_s) < len(self.transcript.events):
            self.arrived_s.append(time.monotonic() - self._started)
        if grant is not None and self._waits(deadline):
            with contextlib.suppress(OSError):  # it may have ended meanwhile; the watch sees it
                self._mine.send(grant)
        return True

    def close(self) -> None:
        """Closes the parent's end."""
        self._mine.close()

    def _waits(self, deadline: float) -> bool:
        """Whether the process that asked for a key waits for it where it must; one that ends or hangs gets none."""
        first = self.transcript.keys_asked == 1
        if not first and self._place is None:
            return True
        place = _waiting(self._sender, deadline)
        if first:
            self._place = place
        elif place is not None and place != self._place:
            raise Forged("a key was asked for from elsewhere than the session's own code")
        return first or place is not None


def _sender(told: list[tuple[int, int, bytes]]) -> int | None:
    """The process that sent a datagram, as the kernel tells; None where it does not."""
    for level, kind, data in told:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(data) >= CREDENTIALS.size:
            return int(CREDENTIALS.unpack_from(data)[0]) or None
    return None


def _waiting(pid: int | None, deadline: float) -> str | None:
    """How a process's main thread waits for a message: system call, arguments, stack, instruction. None if untold."""
    number, file = RECVFROM.get(platform.machine()), Path(f"/proc/{pid}/syscall")
    while number and pid and time.monotonic() < deadline:
        try:
            place = file.read_text(encoding="ascii")
        except OSError:  # it has ended, or may not be looked at
            return None
        if place.startswith(f"{number} "):
            return place
        time.sleep(PAUSE_S)  # it is still on its way from asking to waiting
    return None
