"""Which events may answer a request: in their place, with known keys, within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.build.settings import CudaSettings
from audit.run.messages import protocol, requests, timing_requests, wire
from audit.run.messages.wire import ProtocolViolation

DEVICE = CudaSettings(digests={}, library=Path("m.so"), module="m", memory="plain")
STEPS: list[dict[str, Any]] = [{"run": "claim", "case": 0}, {"run": "held", "case": 0, "of": 0}]
SESSION = requests.Session(
    device=DEVICE,
    entry="f",
    folder=Path("/x"),
    output_bytes=((12,),),
    steps=tuple(requests.Step(**one) for one in STEPS),
)
FILES: dict[str, Any] = {"reference": Path("/c/reference.py"), "folder": Path("/x")}
ORACLE = requests.Cases(**FILES, device="cpu", shapes=({"N": 3},), seeds=(1,), cost_shape={"N": 3})
WANTED = requests.Vary(inputs=Path("/x/0.inputs.pt"), shape={"N": 3}, groups=("moved",))
VARY = requests.Variations(**FILES, device="cpu", relative=0.1, vary=(WANTED,))
TIMED = timing_requests.Timed(name="claimed", entry="f", device=DEVICE)
INPUTS = (Path("/x/0.inputs.pt"),)
TIMING = timing_requests.Interleaved(
    **FILES, variants=(TIMED,), inputs=INPUTS, relative={}, baselines=None, budget_s=1.0, half_width=0.01, seed=1,
    kept_calls=1, inductor=Path("/x/i"), shape={"N": 3}, profile=1, ceilings=False,
)  # fmt: skip
PROTOCOL = timing_requests.Protocol(name="published: do_bench", of_mean=False, warmup_ms=25, rep_ms=100)
EXHIBIT = timing_requests.Published(**FILES, variants=(TIMED,), inputs=INPUTS, protocols=(PROTOCOL,))
ALONE = timing_requests.Alone(**FILES, variants=(TIMED,), inputs=INPUTS, calls=7, seed=1, inductor=Path("/x/i"))
FINE = {"shape": [3], "dtype": "float32", "digest": "0" * 32, "seconds": 0.5, "launches": [], "reports": []}
COST: dict[str, Any] = {"cost": {"flops": 1.0, "bytes": 2.0}}
CASE = {"case": 0, "shape": {"N": 3}, "expected_shape": [3], "expected_dtype": "float32", "expected_at": 0}
GRADING = ORACLE.model_copy(update={"others": 1e-3})
DRAWN = GRADING.model_copy(update={"distribution": "graded"})
GRADED = {**CASE, "other": "graded"}
VARIED = {"of": 0, "bits": {"fp32": 23.5, "tf32": None}, "trivial": {"zeros": 3}, "inputs": []}
MOVED = {"of": 0, "variation": "one_element", "group": "moved", "headroom": {}, "outside": False,
         "expected_shape": [3], "expected_dtype": "float32", "expected_at": 24}  # fmt: skip


def steps() -> list[dict[str, Any]]:
    return [{"step": place, **FINE} for place, _ in enumerate(STEPS)]


def check(request: wire.AnyRequest, *events: dict[str, Any] | str, finished: bool = True) -> int:
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return len(protocol.checked(request, lines, finished=finished))


def test_what_sessions_tell_is_taken() -> None:
    assert check(SESSION, *steps()) == 2
    assert check(SESSION, *steps()[:1], finished=False) == 1, "a session that crashed"
    assert check(ORACLE, COST, CASE) == 2
    assert check(GRADING, COST, CASE) == 2
    assert check(GRADING, COST, CASE, GRADED) == 3
    assert (check(DRAWN, COST, GRADED), check(DRAWN, COST)) == (2, 1)
    assert check(VARY, VARIED, MOVED) == 2
    assert check(TIMING, {"trying": "claimed"}, {"failed": "claimed", "why": "x"}, {"part": "load", "seconds": 1}) == 3


def refusal(request: wire.AnyRequest, *events: dict[str, Any] | str, finished: bool = True) -> str:
    """Why those events are not taken; fails where they are."""
    with pytest.raises(ProtocolViolation) as error:
        check(request, *events, finished=finished)
    return str(error.value)


def test_an_event_too_few_or_too_many_or_in_another_place_is_refused() -> None:
    first, second = steps()
    assert "1 events for 2 steps" in refusal(SESSION, first)
    assert "3 events for 2 steps" in refusal(SESSION, first, second, second)
    assert "event 0 answers another step" in refusal(SESSION, second, first)
    assert "event 1 answers another step" in refusal(SESSION, first, first, finished=False)
    assert "event 0 is not the one due" in refusal(ORACLE, CASE, COST)
    assert "0 events for the cost and 1 cases" in refusal(ORACLE)
    assert "3 events for the cost and 1 cases" in refusal(ORACLE, COST, CASE, GRADED)
    assert "other inputs without their case" in refusal(GRADING, COST, GRADED, CASE)
    assert "other inputs without their case" in refusal(GRADING, COST, CASE, GRADED, GRADED)
    for events in ((GRADED,), (COST, CASE), (COST, GRADED, GRADED)):
        assert "not the one due there" in refusal(DRAWN, *events)
    assert "another case" in refusal(VARY, MOVED)
    assert "not asked for, or twice" in refusal(VARY, VARIED, MOVED, MOVED)
    assert "not asked for, or twice" in refusal(VARY, VARIED, {**MOVED, "variation": "/etc/passwd"})
    assert "events about 0 of 1 cases" in refusal(VARY)


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"step": "0"},
        {"step": True},
        {"shape": [-1]},
        {"shape": [2**60]},
        {"shape": [3] * 65},
        {"seconds": -1.0},
        {"digest": "0"},
        {"launches": [{"kernel": "k"}]},
        {"reports": [{"kind": "k", "message": "m", "kernel": "k", "line": None}]},
        {"raised": "x" * 200_000},
        {"replaced": ["x"] * 2000},
    ],
)
def test_other_keys_kinds_and_sizes_are_refused(change: dict[str, Any]) -> None:
    first, second = steps()
    assert "event 0 is none that a session tells" in refusal(SESSION, {**first, **change}, second)


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", '{"step": NaN}', '{"step": 0, "step": 0}', "[" * 200_000, '{"cost": {"flops": 1e999}}'],
)
def test_what_is_no_event_at_all_is_refused(line: str) -> None:
    assert "is none that a session tells" in refusal(SESSION, line, finished=False)
    assert "is none that a session tells" in refusal(ORACLE, line, finished=False)


def test_a_timing_session_speaks_of_what_it_was_asked_to_time() -> None:
    samples = {"how": "cold", "samples_ms": [0.5], "blocks": [0], "positions": [0]}
    assert check(TIMING, {"variant": "claimed", **samples}, {"variant": "baseline:eager", **samples}) == 2
    assert "speaks of another, which" in refusal(TIMING, {"variant": "another", **samples})
    ahead = TIMING.model_copy(update={"variants": (), "compiled": ("compile",)})
    assert check(ahead, {"trying": "compile"}, {"loaded": "compile", "seconds": 1.0}) == 2
    assert "speaks of compile, which" in refusal(TIMING, {"trying": "compile"})
    assert "is none that a session tells" in refusal(TIMING, {"variant": "claimed", **samples, "samples_ms": [-0.5]})
    kept = {"variant": "claimed", "inputs": 1, "block": 0, "no_tensor": "float"}
    assert "names inputs there are none of" in refusal(TIMING, kept)
    file = {**kept, "inputs": 0, "whole": [3], "rows": None, "shape": [3], "dtype": "float32", "digest": "0" * 32}
    del file["no_tensor"]
    assert check(TIMING, {**file, "file": "timed0.bin"}) == 1
    assert "is none that a session tells" in refusal(TIMING, {**file, "file": "../timed0.bin"})


def test_an_exhibit_speaks_of_itself_alone_and_under_the_protocols_that_were_asked_for() -> None:
    samples = {"variant": "claimed", "samples_ms": [0.5], "protocol": "published: do_bench"}
    assert check(EXHIBIT, {"trying": "claimed"}, samples) == 2
    for name in ("baseline:eager", "control:empty kernel", "ceiling:copy"):
        assert "is about another timing" in refusal(EXHIBIT, {**samples, "variant": name})
    assert "is about another timing" in refusal(
        EXHIBIT, {**samples, "protocol": "CUDA events, L2 cold, interleaved in blocks"}
    )
    assert "is about another timing" in refusal(EXHIBIT, {"variant": "claimed", "samples_ms": [0.5]})
    block = {"variant": "claimed", "how": "cold", "samples_ms": [0.5], "blocks": [0], "positions": [0]}
    assert "is none that a session tells" in refusal(EXHIBIT, block)
    contrast = {"contrast": {"l2_bytes": 1}, "cold_ms": [2.0], "hot_ms": [1.0]}
    assert "is none that a session tells" in refusal(EXHIBIT, contrast)


@pytest.mark.parametrize(
    ("request_", "name"),
    [(ALONE, "claimed"), (ALONE.model_copy(update={"variants": (), "baseline": "eager"}), "baseline:eager")],
)
def test_readings_of_one_callable_come_in_pairs_behind_those_of_an_empty_kernel(
    request_: timing_requests.Alone, name: str
) -> None:
    def pairs(of: str, calls: int) -> list[dict[str, Any]]:
        both = [{"independent_clock": of, "at": at, "calls": calls} for at in ("begin", "end")]
        return both * timing_requests.READINGS

    empty = pairs(timing_requests.EMPTY, timing_requests.EMPTY_CALLS)
    loads, own = [{"trying": name}, {"loaded": name, "seconds": 0.5}], pairs(name, 7)
    assert check(request_, *empty, *loads, *own) == 22
    assert check(request_, *empty, {"trying": name}, {"failed": name, "why": "x"}) == 12
    assert check(request_, *empty, finished=False) == 10
    for events in (
        [*loads, *own],
        [*empty, *loads, *empty],
        [*empty, *loads, *own[1:], own[0]],
        [*empty, *own, *loads],
    ):
        assert "is not the one due there" in refusal(request_, *events, finished=False)
    assert "is not the one due there" in refusal(request_, *empty, *loads, *pairs(name, 8))
    assert "20 events for 22" in refusal(request_, *empty, *loads, *own[:8])
    assert "24 events for 22" in refusal(request_, *empty, *loads, *own, *own[:2])
    assert "is none that a session tells" in refusal(request_, *empty, {"variant": name, "samples_ms": [0.5]})
