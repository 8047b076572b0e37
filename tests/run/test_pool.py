"""The trusted parent outlives whatever a session does."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from audit.model.run_directory import is_free
from audit.run.messages.requests import Cases
from audit.run.processes import supervisors
from audit.run.processes.pool import Reply, Workers

REFERENCE = """
import os, signal, subprocess, sys, time
import torch
def cost(shape): {cost}
def inputs(shape, generator): return [torch.randn(shape["N"], generator=generator)]
def reference(x): return 2 * x
def oracle(x): return 2 * x.double()
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as pool:
        yield pool


def ask(workers: Workers, folder: Path, cost: str, *, limit_s: float = 20.0) -> Reply:
    (folder / "reference.py").write_text(REFERENCE.format(cost=cost))
    return workers.call(request_for(folder), limit_s=limit_s)


def request_for(claim: Path, **more: Any) -> Cases:
    known = {"reference": claim / "reference.py", "baselines": ("eager",), "folder": claim, "device": "cpu"}
    return Cases(**{**known, "shapes": ({"N": 3},), "seeds": (7,), "cost_shape": {"N": 3}, **more})


FINE = "return {'flops': 1, 'bytes': 2}"


def test_a_session_tells_its_events_and_leaves_its_files(workers: Workers, tmp_path: Path) -> None:
    reply = ask(workers, tmp_path, FINE)
    assert reply.finished
    assert reply.events[0] == {"cost": {"flops": 1.0, "bytes": 2.0}}
    assert reply.events[1]["expected_shape"] == [3]
    inputs = torch.load(tmp_path / "0.inputs.pt", weights_only=True)[0]
    assert reply.expected(reply.events[1]).tolist() == (2 * inputs.double()).tolist()
    assert {file.name for file in tmp_path.iterdir()} == {"reference.py", "0.inputs.pt"}, "results have no name"


def test_a_case_of_float32_comes_with_the_bits_of_each_format_where_they_are_asked(
    workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE.format(cost=FINE))
    sizes = ({"N": 4096},)
    plain, asked = (
        workers.call(request_for(tmp_path, shapes=sizes, bits=bits), limit_s=20.0) for bits in (False, True)
    )
    assert "bits" not in plain.events[1]
    bits = asked.events[1]["bits"]
    assert bits["fp32"] > 24
    assert 11 < bits["tf32"] < 13
    assert bits["fp16"] == pytest.approx(bits["tf32"], abs=0.5)
    assert 8 < bits["bf16"] < 10


@pytest.mark.parametrize(
    ("cost", "ending", "detail"),
    [
        ("raise ValueError('no cost')", "raised", "ValueError: no cost"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "SIGSEGV"),
        ("os._exit(3)", "ended", "the process ended itself with exit code 3"),
        ("sys.exit()", "ended", "the process ended itself with exit code 0"),
        ("sys.exit('no more')", "ended", "the process ended itself with exit code 1"),
        ("time.sleep(60)", "timed out", "within 2 s"),
    ],
)
def test_every_bad_end_is_told_and_the_next_session_is_unaffected(
    workers: Workers, tmp_path: Path, cost: str, ending: str, detail: str
) -> None:
    reply = ask(workers, tmp_path, cost, limit_s=2.0 if ending == "timed out" else 20.0)
    assert (reply.ending, reply.events) == (ending, ())
    assert detail in reply.detail
    assert ask(workers, tmp_path, FINE).finished


def test_a_child_left_behind_is_killed(workers: Workers, tmp_path: Path) -> None:
    held = tmp_path / "held"
    leaves = f"import fcntl; held = open({str(held)!r}, 'w'); fcntl.flock(held, fcntl.LOCK_EX); "
    leaves += "subprocess.Popen(['sleep', '60'], pass_fds=[held.fileno()], start_new_session=True); " + FINE
    assert ask(workers, tmp_path, leaves).finished
    assert is_free(held), "the grandchild still runs"


def test_prints_of_a_session_do_not_reach_the_protocol(workers: Workers, tmp_path: Path) -> None:
    reply = ask(workers, tmp_path, "print('{\"cost\": 0}'); sys.stderr.write('noise'); " + FINE)
    assert reply.finished
    assert reply.events[0]["cost"]["flops"] == 1.0


def test_a_baseline_that_reference_py_lacks_is_named(workers: Workers, tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE.format(cost=FINE) + "BASELINES = {'eager': reference}\n")
    reply = workers.call(request_for(tmp_path, baselines=("fused",)), limit_s=20.0)
    assert reply.ending == "raised"
    assert "names baseline fused, reference.py has eager" in reply.detail


def test_a_shared_process_serves_until_it_breaks_and_then_another_does(workers: Workers, tmp_path: Path) -> None:
    mark = "import fcntl; sys.held = open(os.path.join({!r}, 'held'), 'w'); fcntl.flock(sys.held, fcntl.LOCK_EX); "
    tells = "return {'since': float(open('/proc/self/stat').read().split()[21]), 'bytes': 2}"

    def asked(cost: str, number: int) -> Reply:
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "reference.py").write_text(REFERENCE.format(cost=cost))
        return process.call(request_for(tmp_path / str(number), folder=process.results), limit_s=20.0)

    with workers.shared(tmp_path, reads=[tmp_path]) as process:
        first, second = asked(tells, 0), asked(tells, 1)
        broken = asked("os.kill(os.getpid(), signal.SIGSEGV)", 2)
        third = asked(mark.format(str(process.results)) + tells, 3)
    since = [reply.events[0]["cost"]["since"] for reply in (first, second, third)]
    assert since[0] == since[1] != since[2]
    assert (broken.ending, third.ending) == ("crashed", "finished")
    assert is_free(process.results / "held"), "a released process is over"
    assert ask(workers, tmp_path, FINE).finished


def test_a_kept_process_that_ended_by_itself_is_told_not_fatal(workers: Workers, tmp_path: Path) -> None:
    leaves = "import threading; threading.Timer(1.5, os._exit, (4,)).start(); " + FINE
    (tmp_path / "reference.py").write_text(REFERENCE.format(cost=leaves))
    with workers.shared(tmp_path, reads=[tmp_path]) as process:
        request = request_for(tmp_path, folder=process.results)
        assert process.call(request, limit_s=20.0).finished
        time.sleep(2.0)
        assert process.call(request, limit_s=20.0).ending == "ended"
    assert ask(workers, tmp_path, FINE).finished


def test_a_process_that_leaves_early_with_code_0_has_not_finished(workers: Workers, tmp_path: Path) -> None:
    assert ask(workers, tmp_path, "os._exit(0)").ending == "ended"


@pytest.mark.parametrize(
    ("number", "detail"), [("SIGKILL", "was ended"), ("SIGSTOP", "was stopped")], ids=["killed", "stopped"]
)
def test_a_parent_that_was_killed_or_stopped_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str, detail: str
) -> None:
    monkeypatch.setattr(supervisors, "GRACE_S", 1.0)
    with Workers(1) as own:
        root = own._fork_server._process.pid
        assert ask(own, tmp_path, FINE).finished
        supervisor = _supervisor_of(root)
        os.kill(supervisor, getattr(signal, number))
        reply = ask(own, tmp_path, FINE, limit_s=1.0)
        assert (reply.ending, reply.events) == ("crashed", ())
        assert reply.detail == f"the process that watches over the session {detail}"
        assert ask(own, tmp_path, FINE).finished
        assert not Path(f"/proc/{supervisor}").exists(), "one that was stopped is ended"
        os.kill(_supervisor_of(root, but=supervisor), signal.SIGKILL)
        own._fork_server._process.kill()
        own._fork_server._process.wait()
        assert ask(own, tmp_path, FINE).ending == "crashed"
        with own.shared(tmp_path, reads=[tmp_path]) as process:
            request = request_for(tmp_path, folder=process.results)
            assert process.call(request, limit_s=20.0).finished


def test_a_root_that_was_stopped_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisors, "GRACE_S", 0.2)
    own = Workers(1)
    process = own._fork_server._process
    process.send_signal(signal.SIGSTOP)
    own.close()
    assert process.returncode == -signal.SIGKILL


def test_the_next_pool_gets_the_fork_server_once_all_below_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workers(1) as first:
        process = first._fork_server._process
        assert ask(first, tmp_path, FINE).finished
        os.kill(_supervisor_of(process.pid), signal.SIGSTOP)
        assert _children(process.pid)
    assert not _children(process.pid)
    with Workers(1) as second:
        assert second._fork_server._process.pid == process.pid
        assert ask(second, tmp_path, FINE).finished
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    with Workers(1) as other:
        assert other._fork_server._process.pid != process.pid, "made for another environment"
    assert process.poll() is not None


def _supervisor_of(root: int, *, but: int = 0) -> int:
    """The one that watches over sessions: the last of its line, whose first ones only wait for it."""
    for _ in range(200):
        waiting, last = [root], []
        while waiting:
            each = waiting.pop()
            children = _children(each)
            waiting += children
            last += [] if children else [each]
        found = [one for one in last if one not in (root, but) and _state(one) not in "TZ"]
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"{root} has no supervisor")


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:  # it has ended
        return []


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


FORGING = """
def cost(shape):
    for number in range(3, 512):
        try:
            os.write(number, {message!r})
        except OSError:
            pass
    return {{"flops": 1, "bytes": 2}}
"""


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        (b'{"served": true}\n', "bytes came that are no message of a session"),
        (b"S" + bytes(31), "bytes came that are no message of a session"),
    ],
)
def test_whatever_else_speaks_for_a_session_nothing_is_believed(
    workers: Workers, tmp_path: Path, message: bytes, seen: str
) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE.format(cost=FINE) + FORGING.format(message=message))
    reply = workers.call(request_for(tmp_path), limit_s=20.0)
    assert (reply.ending, reply.events) == ("protocol violation", ())
    assert seen in reply.detail
    assert ask(workers, tmp_path, FINE).finished


def test_the_parent_stamps_every_event(workers: Workers, tmp_path: Path) -> None:
    reply = ask(workers, tmp_path, "time.sleep(0.2); " + FINE)
    assert len(reply.arrived_s) == len(reply.events) == 2
    assert 0.2 < reply.arrived_s[0] < reply.arrived_s[1] < 20.0


def test_a_result_that_cannot_be_told_ends_the_session(workers: Workers, tmp_path: Path) -> None:
    reply = ask(workers, tmp_path, "return {'flops': float('nan'), 'bytes': 2}")
    assert (reply.ending, reply.events) == ("raised", ())
    assert "not JSON compliant" in reply.detail
