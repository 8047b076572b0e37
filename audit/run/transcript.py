"""In a supervisor: verify the datagrams of a session's native code.

Before each event a session asks for a key (`A`), gets a grant, sends the event in parts (`D`) and then the message
(`M`) with a BLAKE2b tag under that key, which it erases; every event has its own key. `BEGUN` precedes the first event
and `SERVED` follows the last. A datagram out of order, repeated, too long, or with another nonce, sequence or tag is
not from that code: a `ProtocolViolation`. So is `!`, by which that code reports a call at a wrong moment.

Limits: claimed code shares the address space of the code that reports on it. Native code that searches memory for the
process's secret, steals the grant from the socket and imitates our code can forge events. It is only hard to do unseen:
the secret is on a page that cannot be read between messages and that no forked child has, and the parent checks where
the process waits for a key (`channel`).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass, field

MOST_BYTES = 64 << 20
"""A session that sends more than this is stopped."""
LONGEST = 64 << 10
"""Bytes of a datagram; a part is 48 KiB at most."""
ASK = struct.Struct("=c7xQ")
PART = struct.Struct("=c7xQ")
MESSAGE = struct.Struct("=cB6xQ16sQ32s")
GRANT = struct.Struct("=16sQ32s32s")
EVENT, SERVED, BEGUN = 1, 2, 4
ALARMS = {
    b"g": "a key was taken by others than the code it was for",
    b"h": "a session was started within a session",
    b"t": "an event was told at a wrong moment or by another thread",
    b"n": "an event was told twice",
}


UNKNOWN = "bytes came that are no message of a session"


class ProtocolViolation(Exception):
    """A message on a session's channel that our code did not send; the text describes it."""


@dataclass
class Transcript:
    """The events of one session so far. All sessions of a process share its `secret`."""

    secret: bytes
    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    events: list[bytes] = field(default_factory=list)
    served: bool = False
    _sequence: int = 0
    _key: bytes | None = None
    _parts: bytearray = field(default_factory=bytearray)
    _received: int = 0

    @property
    def keys_asked(self) -> int:
        """The number of keys the session has asked for."""
        return self._sequence + self.key_is_out

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
        if sequence != self._sequence:
            raise ProtocolViolation(f"a key was asked for message {sequence}, while message {self._sequence} is due")
        self._key = secrets.token_bytes(32)
        return GRANT.pack(self.nonce, sequence, self._key, self.secret)

    def _part(self, datagram: bytes) -> None:
        if self._key is None or PART.unpack_from(datagram)[1] != self._sequence:
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
        if not due or (sequence, nonce, length) != (self._sequence, self.nonce, len(payload)):
            raise ProtocolViolation("a message was not sealed with the key of its moment")
        self._key, self._parts, self._sequence = None, bytearray(), sequence + 1
        self._sealed(what, payload, first=sequence == 0)

    def _sealed(self, what: int, payload: bytes, *, first: bool) -> None:
        if (what == BEGUN) != first or what not in (EVENT, SERVED, BEGUN) or (payload and what != EVENT):
            raise ProtocolViolation(f"a message of kind {what} at a wrong place")
        if what == EVENT:
            self.events.append(payload)
        self.served = what == SERVED
