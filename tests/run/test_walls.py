"""Sessions in the sandbox, and that nothing of them outlives the judge."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.model.run_directory import is_free
from audit.run.processes import environment
from audit.run.processes.pool import Reply, Workers
from audit.sandbox import check
from tests.run.test_pool import FINE, REFERENCE, ask, request_for

TOKEN = "HF_TOKEN"


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TOKEN, "secret")
        with Workers(1) as pool:
            yield pool


def up(name: str) -> None:
    wall = next(one for one in check.around_commands() if one.name == name)
    if not wall.up:
        pytest.skip(f"wall {name}: {wall.why}")


def test_around_sessions_stand_the_walls_that_stand_around_commands(workers: Workers) -> None:
    assert environment.sandbox(workers) == check.around_commands()


def test_a_session_sees_no_token_and_no_other_file_of_the_audit(workers: Workers, tmp_path: Path) -> None:
    up("files")
    (tmp_path / "claim").mkdir()
    other = tmp_path / "other.bin"
    other.write_bytes(b"a right result")
    assert ask(workers, tmp_path / "claim", f"assert {TOKEN!r} not in os.environ; {FINE}").finished
    refused = ask(workers, tmp_path / "claim", f"open({str(other)!r}); {FINE}")
    assert (refused.ending, "Permission denied" in refused.detail) == ("raised", True)


def test_one_that_prints_without_end_is_stopped_and_fails_no_kernel(workers: Workers, tmp_path: Path) -> None:
    flood = "[os.write(1, b'x' * (1 << 20)) for _ in range(80)]; time.sleep(60)"
    reply = ask(workers, tmp_path, flood)
    assert (reply.ending, reply.detail) == ("stopped", "the session printed more than 64 MiB")
    assert ask(workers, tmp_path, FINE).finished


def test_one_that_closes_every_descriptor_is_not_waited_for_without_end(workers: Workers, tmp_path: Path) -> None:
    reply = ask(workers, tmp_path, "os.closerange(0, 4096); time.sleep(60)", limit_s=1.5)
    assert reply.ending == "timed out"
    assert ask(workers, tmp_path, FINE).finished


def test_processes_that_left_their_session_end_with_it(workers: Workers, tmp_path: Path) -> None:
    held = tmp_path / "held"
    leaves = f"import fcntl; held = open({str(held)!r}, 'w'); fcntl.flock(held, fcntl.LOCK_EX); "
    leaves += "[(os.setsid(), os.fork(), time.sleep(60)) for _ in range(5) if os.fork() == 0]; " + FINE
    assert ask(workers, tmp_path, leaves).finished
    assert is_free(held)


def test_killing_the_judge_ends_its_sessions(tmp_path: Path) -> None:
    held = tmp_path / "held"
    waits = f"import fcntl; held = open({str(held)!r}, 'w'); fcntl.flock(held, fcntl.LOCK_EX); "
    waits += "held.write('x'); held.flush(); os.fork(); os.setsid(); time.sleep(300)"
    (tmp_path / "reference.py").write_text(REFERENCE.format(cost=waits))
    request = request_for(tmp_path).model_dump_json()
    program = (
        "from audit.run.processes.pool import Workers\nfrom audit.run.messages.wire import parsed\n"
        f"Workers(1).call(parsed({request!r}), limit_s=300)"
    )
    judge = subprocess.Popen([sys.executable, "-c", program])
    assert comes_true(lambda: held.exists() and bool(held.read_text()))
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    assert comes_true(lambda: is_free(held)), "a session outlives the judge"


def comes_true(holds: Callable[[], bool]) -> bool:
    """Whether it holds at last; nobody waits longer than a minute."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def test_a_shared_process_sees_the_inputs_of_the_session_at_hand_alone(workers: Workers, tmp_path: Path) -> None:
    up("files")
    reference = tmp_path / "claim"
    reference.mkdir()
    looks = "return {'seen': float(len(os.listdir({!r}))), 'bytes': 1.0}"
    inputs = [tmp_path / "0.inputs.pt", tmp_path / "1.inputs.pt"]
    for file in inputs:
        file.write_bytes(b"x")

    def seen(files: list[Path]) -> Reply:
        there = str(process.results.parent / "inputs")
        (reference / "reference.py").write_text(REFERENCE.format(cost=looks.replace("{!r}", repr(there))))
        request = request_for(reference, folder=process.results, inputs=tuple(files))
        return process.call(request, limit_s=20.0)

    with workers.shared(tmp_path, reads=[reference]) as process:
        assert [seen(inputs[:1]).events[0]["cost"]["seen"], seen(inputs).events[0]["cost"]["seen"]] == [1.0, 2.0]
    assert all(file.read_bytes() == b"x" for file in inputs)
