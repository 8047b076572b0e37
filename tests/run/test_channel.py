"""What a session's process sends over its channel, and the end of a session at anything else."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from audit.run.messages.event_writer import CHUNK, LOWEST, SPREAD, EventWriter
from audit.run.messages.wire import (
    BEGUN,
    EVENT,
    HEADER,
    LONGEST,
    MOST_BYTES,
    NONCE_BYTES,
    PART,
    SERVED,
    UNKNOWN,
    Channel,
    ProtocolViolation,
    Transcript,
)

EVENTS = [{"step": 0}, {"text": "x" * (2 * CHUNK)}, {}]


@contextmanager
def speaking(act: Callable[[socket.socket], object]) -> Iterator[Channel]:
    """The parent's end, at whose other end a forked process does that."""
    one = Channel()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            act(one.theirs)
        os._exit(0)
    one.theirs.close()
    one.start()
    try:
        yield one
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        one.close()


def serve(theirs: socket.socket, *sessions: list[dict[str, Any]]) -> None:
    writer = EventWriter()
    writer.open(theirs.detach())
    for events in sessions:
        select.select([writer._receive.__self__], [], [], 5.0)
        writer.serve(iter(events))


def taken(one: Channel) -> list[bytes]:
    """The events of one session."""
    while not one.transcript.served and select.select([one], [], [], 5.0)[0] and one.take():
        pass
    assert one.transcript.served
    return one.transcript.events


def test_a_session_is_told_to_its_end_and_so_is_the_next() -> None:
    with speaking(lambda theirs: serve(theirs, EVENTS, EVENTS[:1])) as one:
        text = b'{"text":"' + b"x" * (2 * CHUNK) + b'"}'
        assert taken(one) == [b'{"step":0}', text, b"{}"]
        assert one.arrived_s == sorted(one.arrived_s)
        assert len(one.arrived_s) == 3
        first = one.transcript.nonce
        one.start()
        assert taken(one) == [b'{"step":0}']
        assert one.transcript.nonce != first


def test_a_session_within_a_session_has_no_nonce() -> None:
    def nested(theirs: socket.socket) -> None:
        writer = EventWriter()
        writer.open(theirs.detach())
        select.select([writer._receive.__self__], [], [], 5.0)

        def events() -> Iterator[dict[str, Any]]:
            with suppress(BlockingIOError):
                writer.serve(iter([{"forged": 1}]))
            yield {}

        writer.serve(events())

    with speaking(nested) as one:
        assert taken(one) == [b"{}"]


def test_the_channel_has_a_number_that_no_program_expects() -> None:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writer = EventWriter()
    writer.open(theirs.detach())
    with mine, writer._receive.__self__ as moved:
        assert LOWEST <= moved.fileno() < LOWEST + 2 * SPREAD


def test_a_message_of_another_process_ends_the_session() -> None:
    def act(theirs: socket.socket) -> None:
        nonce = theirs.recv(NONCE_BYTES)
        theirs.send(HEADER.pack(BEGUN, 0, nonce))
        if os.fork() == 0:
            theirs.send(HEADER.pack(EVENT, 1, nonce))
            os._exit(0)
        os.wait()

    with speaking(act) as one, pytest.raises(ProtocolViolation, match="from another process than the session's"):
        taken(one)


def test_a_long_datagram_ends_the_session() -> None:
    sent = speaking(lambda theirs: theirs.send(bytes(LONGEST + 1)))
    with sent as one, pytest.raises(ProtocolViolation, match="a datagram of more than"):
        taken(one)


Sent = Callable[[bytes], list[bytes]]
FOREIGN: dict[str, tuple[Sent, str]] = {
    "nothing": (lambda _: [b""], UNKNOWN),
    "a line of JSON": (lambda _: [b'{"served": true, "by": "whoever writes here"}\n'], UNKNOWN),
    "another nonce": (lambda _: [HEADER.pack(SERVED, 1, bytes(NONCE_BYTES))], UNKNOWN),
    "an unknown kind": (lambda nonce: [HEADER.pack(b"X", 1, nonce)], UNKNOWN),
    "a later number": (lambda nonce: [HEADER.pack(EVENT, 7, nonce)], "message 7 .* while message 1 is due"),
    "a message twice": (lambda nonce: 2 * [HEADER.pack(EVENT, 1, nonce)], "message 1 .* while message 2 is due"),
    "a second beginning": (lambda nonce: [HEADER.pack(BEGUN, 1, nonce)], "at a wrong place"),
    "words in the last message": (lambda nonce: [HEADER.pack(SERVED, 1, nonce) + b"{}"], "at a wrong place"),
    "an end within an event": (
        lambda nonce: [HEADER.pack(PART, 1, nonce) + b"{", HEADER.pack(SERVED, 2, nonce)], "wrong place"
    ),
    "more behind the last message": (
        lambda nonce: [HEADER.pack(SERVED, 1, nonce), HEADER.pack(EVENT, 2, nonce)], "after the session's last one"
    ),
}  # fmt: skip


def begun() -> Transcript:
    transcript = Transcript()
    transcript.feed(HEADER.pack(BEGUN, 0, transcript.nonce))
    return transcript


@pytest.mark.parametrize("name", FOREIGN)
def test_other_bytes_end_the_session(name: str) -> None:
    sent, why = FOREIGN[name]
    transcript = begun()
    with pytest.raises(ProtocolViolation, match=why):
        for datagram in sent(transcript.nonce):
            transcript.feed(datagram)


@pytest.mark.parametrize("kind", [EVENT, SERVED])
def test_a_session_begins_with_its_beginning(kind: bytes) -> None:
    transcript = Transcript()
    with pytest.raises(ProtocolViolation, match=r"message 0 .* while message 0 is due"):
        transcript.feed(HEADER.pack(kind, 0, transcript.nonce))


def test_a_session_has_so_many_bytes() -> None:
    transcript = begun()
    with pytest.raises(ProtocolViolation, match="more than 64 MiB were told"):
        for number in range(1, 2 + MOST_BYTES // LONGEST):
            transcript.feed(HEADER.pack(PART, number, transcript.nonce) + bytes(LONGEST))
