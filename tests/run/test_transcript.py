"""Only the datagrams that a session's native code sends, in their order and under their keys, make a transcript."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from audit.run.channel import (
    ASK,
    BEGUN,
    EVENT,
    GRANT,
    MESSAGE,
    MOST_BYTES,
    PART,
    SERVED,
    ProtocolViolation,
    Transcript,
)

SECRET = bytes(range(32))


class Speaker:
    """Says what the native code of a session says."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.sequence = 0

    def ask(self) -> bytes:
        grant = self.transcript.feed(ASK.pack(b"A", self.sequence))
        assert grant is not None
        return grant

    def part(self, payload: bytes) -> None:
        self.transcript.feed(PART.pack(b"D", self.sequence) + payload)

    def sealed(self, grant: bytes, what: int, payload: bytes = b"") -> bytes:
        nonce, sequence, key, secret = GRANT.unpack(grant)
        head = MESSAGE.pack(b"M", what, sequence, nonce, len(payload), bytes(32))[:-32]
        return head + hashlib.blake2b(secret + head + payload, key=key, digest_size=32).digest()

    def tell(self, what: int, payload: bytes = b"") -> bytes:
        """Asks, sends the payload in two parts, and the message, which it returns."""
        grant = self.ask()
        for part in filter(None, (payload[:5], payload[5:])):
            self.part(part)
        message = self.sealed(grant, what, payload)
        self.transcript.feed(message)
        self.sequence += 1
        return message


@pytest.fixture
def speaker() -> Speaker:
    one = Speaker(Transcript(SECRET))
    one.tell(BEGUN)
    return one


def test_a_session_is_told_to_its_end(speaker: Speaker) -> None:
    for payload in (b"{}", b"[" * 100):
        speaker.tell(EVENT, payload)
    assert not speaker.transcript.served
    speaker.tell(SERVED)
    assert (speaker.transcript.served, speaker.transcript.events) == (True, [b"{}", b"[" * 100])
    assert speaker.transcript.sequence == 4


def test_every_key_is_another_and_none_is_of_use_twice(speaker: Speaker) -> None:
    message = speaker.tell(EVENT, b"{}")
    keys = [speaker.ask()]
    with pytest.raises(ProtocolViolation, match="not sealed with the key of its moment"):
        speaker.transcript.feed(message)
    other = Speaker(Transcript(SECRET))
    keys.append(other.ask())
    assert len({GRANT.unpack(grant)[2] for grant in keys}) == 2
    assert len({GRANT.unpack(grant)[0] for grant in keys}) == 2, "nonces"


def changed(message: bytes, place: int) -> bytes:
    return message[:place] + bytes([message[place] ^ 1]) + message[place + 1 :]


@pytest.mark.parametrize("place", [1, 8, 16, 32, 40, 71])
def test_no_byte_of_a_message_may_change(speaker: Speaker, place: int) -> None:
    message = speaker.sealed(speaker.ask(), EVENT)
    with pytest.raises(ProtocolViolation):
        speaker.transcript.feed(changed(message, place))


Act = Callable[[Speaker], object]
FOREIGN: dict[str, tuple[Act, str]] = {
    "nothing": (lambda one: one.transcript.feed(b""), "no message of a session"),
    "a line of JSON": (lambda one: one.transcript.feed(b'{"served": true}\n'), "no message of a session"),
    "an unknown alarm": (lambda one: one.transcript.feed(b"!x"), "no message of a session"),
    "the alarm": (lambda one: one.transcript.feed(b"!h"), "a session was started within a session"),
    "two questions": (lambda one: (one.ask(), one.ask()), "before the last one was used"),
    "a later number": (lambda one: one.transcript.feed(ASK.pack(b"A", 7)), "message 7, while message 1 is due"),
    "a message without a key": (lambda one: one.transcript.feed(one.sealed(bytes(88), EVENT)), "came without a key"),
    "a part without a key": (lambda one: one.part(b"{}"), "a part of a message came without a key"),
    "no second part": (lambda one: (one.part(b"{") if (g := one.ask()) else None,
                                    one.transcript.feed(one.sealed(g, EVENT, b"{}"))), "not sealed"),
    "a second beginning": (lambda one: one.tell(BEGUN), "kind 4 at a wrong place"),
    "an unknown kind": (lambda one: one.tell(3, b""), "kind 3 at a wrong place"),
    "words in the last message": (lambda one: one.tell(SERVED, b"{}"), "kind 2 at a wrong place"),
    "more behind the last message": (lambda one: (one.tell(SERVED), one.ask()), "after the session's last one"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_what_must_not_come_ends_the_session(speaker: Speaker, name: str) -> None:
    act, why = FOREIGN[name]
    with pytest.raises(ProtocolViolation, match=why):
        act(speaker)
    assert speaker.transcript.events == []


def test_a_session_cannot_begin_with_an_event() -> None:
    with pytest.raises(ProtocolViolation, match="kind 1 at a wrong place"):
        Speaker(Transcript(SECRET)).tell(EVENT, b"{}")


def test_the_seal_needs_the_secret_of_the_process(speaker: Speaker) -> None:
    grant = speaker.ask()
    message = speaker.sealed(grant[:-32] + bytes(32), EVENT)
    with pytest.raises(ProtocolViolation, match="not sealed"):
        speaker.transcript.feed(message)


def test_what_is_told_is_bounded(speaker: Speaker) -> None:
    speaker.ask()
    part = bytes(1 << 20)
    with pytest.raises(ProtocolViolation, match="more than 64 MiB were told"):
        for _ in range(2 + MOST_BYTES // len(part)):
            speaker.part(part)
