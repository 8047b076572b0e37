"""Who gets a key: what waits for it where it must, and nobody else; the watch over a session never waits for that."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from audit.run import channel
from audit.run.channel import ASK, ELSEWHERE, GRANT, TAKEN, Channel, ProtocolViolation

pytestmark = pytest.mark.skipif(
    not os.access("/proc/self/syscall", os.R_OK) or channel.platform.machine() not in channel.RECVFROM,
    reason="this machine does not tell where a process waits",
)


@contextmanager
def speaking(act: Callable[[socket.socket], object]) -> Iterator[Channel]:
    """The parent's end, at whose other end a forked process does that."""
    one = Channel()
    one.start()
    child = os.fork()
    if child == 0:
        try:
            act(one.theirs)
        finally:
            os._exit(0)
    one.theirs.close()
    try:
        yield one
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        one.close()


def ask(theirs: socket.socket) -> None:
    theirs.send(ASK.pack(b"A", 0))


def wait(theirs: socket.socket) -> bytes:
    return theirs.recv(GRANT.size)


def watched(one: Channel, *, attested: bool = False) -> None:
    """Listens and looks as the watch over a session does, at most until it is attested, if so asked."""
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline and not (attested and one.attested):
        if not select.select([one], [], [], one.pause_s)[0]:
            one.look()
        elif not one.take():
            return


def test_a_key_is_given_to_who_waits_for_it() -> None:
    def act(theirs: socket.socket) -> None:
        ask(theirs)
        theirs.send(b"got" if len(wait(theirs)) == GRANT.size else b"not")

    with speaking(act) as one:
        with pytest.raises(ProtocolViolation, match="no message of a session"):  # which came behind the key
            watched(one)
        assert one.attested


def test_who_asks_and_goes_on_working_gets_none_and_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "ASKED_S", 0.05)

    def act(theirs: socket.socket) -> None:
        ask(theirs)
        time.sleep(60)

    with speaking(act) as one:
        assert select.select([one], [], [], 5.0)[0]
        assert one.take(), "at once"
        assert not one.attested
        with pytest.raises(ProtocolViolation, match=ELSEWHERE):
            watched(one)


def test_a_key_that_another_thread_took_ends_the_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(channel, "TAKEN_S", 0.05)
    taken = tmp_path / "taken"

    def act(theirs: socket.socket) -> None:
        threading.Thread(target=lambda: taken.write_bytes(wait(theirs)), daemon=True).start()
        time.sleep(0.2)  # it waits first, and gets what comes first
        ask(theirs)
        wait(theirs)

    with speaking(act) as one, pytest.raises(ProtocolViolation, match=TAKEN):
        watched(one)
    assert taken.stat().st_size == GRANT.size


def test_a_later_session_of_a_process_waits_at_the_instruction_of_the_first() -> None:
    def act(theirs: socket.socket) -> None:
        ask(theirs)
        wait(theirs)
        ask(theirs)
        theirs.recvfrom(GRANT.size)  # the same system call, from another place in the C library

    with speaking(act) as one:
        watched(one, attested=True)
        one.start()
        with pytest.raises(ProtocolViolation, match=ELSEWHERE):
            watched(one)
