"""The trusted parent's side of the channel: the datagrams that a session's native code must have sent.

Before each event a session asks for a key (`A`), gets a grant, sends the event in parts (`D`) and then the message
(`M`) with a BLAKE2b tag under that key, which it forgets; the next key is another. `begun` stands before the first
event and `served` behind the last. A datagram in another order, twice, too long, or with another nonce, sequence or tag
was not sent by that code: a `ProtocolViolation`. So is `!`, by which that code reports a call at a wrong moment.

Limits: claimed code shares the address space of the code that reports on it. Native code that searches memory for the
process's secret, steals the grant from the socket and answers in the place of our code can forge events. That is only
made hard to do unseen: the secret lies on a page that cannot be read between messages and that no forked child has, and
the parent looks where the process waits when it asks (`channel`).
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
    """A message on a session's channel that its own code did not send; the text says what was seen."""


@dataclass
class Transcript:
    """The events that one session has sent so far. `secret` belongs to its process and holds for all its sessions."""

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
        """How often a key was asked for."""
        return self._sequence + self.key_is_out

    @property
    def key_is_out(self) -> bool:
        """Whether a key was asked for whose message has not come."""
        return self._key is not None

    def feed(self, datagram: bytes) -> bytes | None:
        """Take one datagram; return the grant where it asked for one.

        Raises:
            ProtocolViolation: it is not what must come now. The session is over then and nothing of it counts.
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
