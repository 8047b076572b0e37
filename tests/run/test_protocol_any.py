"""Random bytes, and the messages of a session cut, repeated, changed or reordered: no finished session of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.run.messages import protocol
from audit.run.messages.wire import BEGUN, EVENT, HEADER, NONCE_BYTES, PART, SERVED, ProtocolViolation, Transcript
from tests.run.test_protocol import CASE, COST, MOVED, ORACLE, SESSION, TIMING, VARIED, VARY, steps

NONCE = b"n" * NONCE_BYTES
EVENTS = (b"{}", b'{"a": 1}')
FUZZ = settings(max_examples=150, deadline=None, derandomize=True, database=None)
HEADS = st.sampled_from([BEGUN, PART, EVENT, SERVED, b"!", b"", b"\0"])
BYTES = st.builds(bytes.__add__, HEADS, st.binary(max_size=120))
WHOLE = ((SESSION, steps()), (ORACLE, [COST, CASE]), (VARY, [VARIED, MOVED]), (TIMING, [{"trying": "claimed"}]))
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)  # fmt: skip


class Cut(Exception):
    """The other end closed."""


class Line(Transcript):
    """A transcript whose datagrams somebody changes on the way."""

    def __init__(self, changes: dict[int, tuple[str, bytes]]) -> None:
        super().__init__(NONCE)
        self.changes = changes
        self.came: list[bytes] = []

    def feed(self, datagram: bytes) -> None:
        """One datagram, changed where its number says so."""
        how, put = self.changes.get(len(self.came), ("", b""))
        self.came.append(datagram)
        if how == "cut":
            raise Cut
        if how == "before":
            super().feed(put)
        if how == "instead":
            datagram = put
        if how == "earlier":
            datagram = self.came[put[0] % len(self.came)] if put else datagram
        if how == "bit" and put:
            at = put[0] % HEADER.size
            datagram = datagram[:at] + bytes([datagram[at] ^ (put[-1] or 1)]) + datagram[at + 1 :]
        super().feed(datagram)
        if how == "twice":
            super().feed(datagram)


def speak(line: Transcript) -> None:
    """One session of two events, the second in two parts."""
    told = ((BEGUN, b""), (EVENT, EVENTS[0]), (PART, EVENTS[1][:3]), (EVENT, EVENTS[1][3:]), (SERVED, b""))
    for number, (kind, payload) in enumerate(told):
        line.feed(HEADER.pack(kind, number, NONCE) + payload)


def test_the_session_that_is_changed_ends_well() -> None:
    line = Line({})
    speak(line)
    assert (line.served, line.events) == (True, list(EVENTS))


@FUZZ
@given(st.lists(BYTES, min_size=1, max_size=6))
def test_bytes_of_anybody_are_no_session(datagrams: list[bytes]) -> None:
    transcript = Transcript(NONCE)
    why = refusal(transcript, datagrams)
    assert why is None or 0 < len(why) < 400
    assert not transcript.served and not transcript.events


def refusal(transcript: Transcript, datagrams: list[bytes]) -> str | None:
    """Why the transcript refuses one of those datagrams; None where it takes them all."""
    try:
        for datagram in datagrams:
            transcript.feed(datagram)
    except ProtocolViolation as error:
        return str(error)
    return None


@FUZZ
@given(st.integers(0, 5), st.sampled_from(["cut", "before", "instead", "earlier", "bit", "twice"]), BYTES)
def test_one_datagram_changed_is_no_finished_session(place: int, how: str, put: bytes) -> None:
    line = Line({place: (how, put)})
    try:
        speak(line)
    except ProtocolViolation:
        return  # nothing of such a session counts
    except Cut:
        assert not line.served
    assert tuple(line.events) == EVENTS[: len(line.events)]


@FUZZ
@given(
    st.binary(min_size=NONCE_BYTES, max_size=NONCE_BYTES),
    st.sampled_from([BEGUN, EVENT, SERVED, b"!"]),
    st.binary(max_size=40),
)
def test_a_message_under_a_guessed_nonce_is_none(nonce: bytes, kind: bytes, payload: bytes) -> None:
    transcript = Transcript(NONCE)
    transcript.feed(HEADER.pack(BEGUN, 0, NONCE))
    assert refusal(transcript, [HEADER.pack(kind, 1, nonce) + payload])
    assert not transcript.served and not transcript.events


@FUZZ
@given(st.integers(0, 3), st.data())
def test_events_are_checked_or_forged(which: int, data: st.DataObject) -> None:
    request, result = WHOLE[which]
    events: list[Any] = json.loads(json.dumps(result))
    at = data.draw(st.integers(0, len(events) - 1))
    how = data.draw(st.sampled_from(["value", "key", "out", "again", "swap", "text"]))
    key = data.draw(st.sampled_from(sorted(events[at])))
    if how == "value":
        events[at][key] = data.draw(VALUES)
    elif how == "key":
        events[at][data.draw(st.text(max_size=5))] = data.draw(VALUES)
    elif how == "out":
        del events[at][key]
    elif how == "again":
        events.append(events[at])
    elif how == "swap":
        events.reverse()
    lines = [json.dumps(event) for event in events]
    if how == "text":
        lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))] + data.draw(st.text(max_size=4))
    try:
        found = protocol.checked(request, lines, finished=True)
    except ProtocolViolation as error:
        assert len(str(error)) < 400
    else:
        assert len(found) == len(lines)
