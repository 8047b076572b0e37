"""Findings about the measuring: control, flush, clocks, order, floor, timed outputs; a hint fails no kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit import claims
from audit.measure import checks, compared, comparison
from audit.measure.checks import clocks, readings
from audit.measure.outputs import classed, tolerance_of, verified
from audit.measure.samples import ALONE, ALONE_HOT, BUSY, DO_BENCH, HOST_CLOCK, OURS, SPAN, measurements_of
from audit.model import Measurement
from audit.run.messages.results import digest_of
from audit.run.messages.timing_requests import EMPTY, GRAPHED
from tests.measure.stand_in import EXPECTED, GPU, case, samples, state

CLAIM = claims.load("triangular_mm").claim


def raced(*events: dict[str, Any]) -> list[Measurement]:
    return measurements_of(events, session="ladder", shape={"N": 4})


def alone(name: str, ms: float, protocol: str) -> Measurement:
    return Measurement(variant=name, shape={"N": 4}, protocol=protocol, samples_ms=(ms,), session="ladder")


@pytest.mark.parametrize(("again_ms", "outcome"), [(0.3, "pass"), (0.33, "fail")])
def test_the_control_must_come_out_as_the_same(again_ms: float, outcome: str) -> None:
    result = checks.same_twice(
        raced(samples("wmma", 0.3), samples("control:again:wmma", again_ms)), "ladder", target="claim"
    )
    assert result is not None
    assert (result.outcome, result.grade) == (outcome, "hint" if outcome == "fail" else None)
    assert ("no ratio of this session counts" in result.summary) is (outcome == "fail")
    assert checks.same_twice(raced(samples("wmma", 0.3)), "ladder", target="claim") is None


def test_without_the_first_time_of_the_control_no_ratio_counts() -> None:
    taken = raced(*(samples(name, 0.3) for name in ("wmma", "control:again:wmma", "other", "baseline:eager")))
    left = [one for one in taken if one.variant != "wmma"]
    assert checks.same_twice(left, "ladder", target="claim") is None
    told = compared(left, "other", "baseline:eager")
    assert told is not None
    assert (told.word, told.doubt) == (
        "inconclusive", "the first time of the callable timed twice is contradicted by another clock",
    )  # fmt: skip


@pytest.mark.parametrize(("cold_ms", "outcome"), [(0.016, "pass"), (0.0101, "fail")])
def test_the_flush_is_seen_to_flush(cold_ms: float, outcome: str) -> None:
    result = checks.flush([alone(checks.READ, cold_ms, ALONE), alone(checks.READ, 0.01, ALONE_HOT)], target="claim")
    assert result is not None
    assert result.outcome == outcome


@pytest.mark.parametrize(
    ("host_ms", "busy_ms", "span_ms", "found"),
    [
        (0.35, 0.30, 0.31, []),
        (0.90, 0.30, 0.31, ["the host takes the rest to launch it, which times by events leave out"]),
        (
            0.90,
            0.60,
            0.80,
            [
                "work escapes the events, or others had the GPU in between",
                "work ran that events do not see, or others had the GPU in between",
            ],
        ),
        (0.35, 0.60, 0.61, ["kernels busy for 0.6 ms"]),
        (0.35, 0.10, 0.15, ["within 0.15 ms"]),
    ],
)
def test_clocks_that_disagree_are_a_hint(host_ms: float, busy_ms: float, span_ms: float, found: list[str]) -> None:
    own = [*raced(samples("wmma", 0.3)), alone("wmma", host_ms, HOST_CLOCK), alone("wmma", busy_ms, BUSY),
           alone("wmma", span_ms, SPAN)]  # fmt: skip
    result = checks.about(own, "ladder", target="claim")
    assert [one.grade for one in result] == ["hint"] * len(found)
    assert all(words in one.summary for one, words in zip(result, found, strict=True))


@pytest.mark.parametrize(
    ("busy_ms", "span_ms", "cost_ms", "agrees"),
    [
        (0.299, 0.3003, 0.0, True),
        (0.29, 0.2809, 0.0, False),  # 0.3003 ms by events is 6.9 % and 5 us over the span
        (0.28, 0.2825, 0.0, True),
        (0.32, 0.325, 0.0, True),
        (0.3225, 0.325, 0.0, False),
        (0.01, 0.011, 0.289, True),  # of 0.3003 ms the events themselves take 0.289
        (0.01, 0.011, 0.28, False),
    ],
)
def test_events_lie_within_5_percent_of_the_profilers_times_but_for_their_own_cost(
    busy_ms: float, span_ms: float, cost_ms: float, agrees: bool
) -> None:
    own = [*raced(samples("wmma", 0.3)), alone("wmma", busy_ms, BUSY), alone("wmma", span_ms, SPAN),
           alone(EMPTY, 0.002 + cost_ms, ALONE), alone(EMPTY, 0.002, SPAN)]  # fmt: skip
    found = checks.by_profiler(own, "wmma")
    assert (found is None) is agrees
    if found is not None:
        assert (found.grade, found.evidence["events_cost_ms"]) == ("hint", pytest.approx(cost_ms))


@pytest.mark.parametrize(("ms", "agrees"), [(0.3, True), (0.315, True), (0.33, False), (0.27, False)])
@pytest.mark.parametrize(("timer", "session"), [(DO_BENCH, ""), (GRAPHED, "ladder")])
def test_another_timer_that_disagrees_with_the_blocks_is_a_hint(
    timer: str, session: str, ms: float, agrees: bool
) -> None:
    known = [*raced(samples("wmma", 0.3)), alone("wmma", ms, timer).model_copy(update={"session": session})]
    about = checks.about(known, "ladder", target="claim")
    assert len(about) == (0 if agrees else 1)
    if not agrees:
        assert (about[0].probe, about[0].grade, about[0].target) == ("timing", "hint", "wmma")
        name, key = checks.TIMERS[timer]
        assert about[0].summary.startswith(f"{name} says {ms:g} ms, the interleaved blocks 0.3003 ms")
        assert about[0].summary.endswith(f"{100 * (ms / 0.3003 - 1):+.0f} %")
        assert about[0].evidence[key] == ms


def test_a_graph_without_the_launches_says_so() -> None:
    """As of a kernel on the legacy default stream, whose launch the capture of another stream refuses."""
    own = [*raced(samples("wmma", 0.3)), alone("wmma", 0.003, GRAPHED)]
    found = checks.by_timer(own, "wmma", GRAPHED)
    assert found is not None
    assert found.summary.endswith("-99 %: some of the work is not in the graph, as with launches on another stream")


def test_an_effect_of_the_order_is_told() -> None:
    event = samples("wmma", 0.3) | {"positions": [0] * 6 + [5] * 6, "samples_ms": [0.3] * 6 + [0.4] * 6}
    result = checks.by_order(raced(event), "wmma")
    assert result is not None
    assert "+33.3 %" in result.summary
    assert checks.by_order(raced(samples("wmma", 0.3)), "wmma") is None


def test_the_floor_of_the_gpu_at_hand_or_none() -> None:
    known = comparison.floor_here(GPU, {"flops": 2.29e10, "bytes": 1.34e8})
    assert known.evidence["floor_ms"] == pytest.approx(0.342, abs=0.001)
    unknown = comparison.floor_here("NVIDIA L40S", {"flops": 1.0, "bytes": 1.0})
    assert (unknown.outcome, "floor_ms" in unknown.evidence) == ("skip", False)


@pytest.mark.parametrize(
    ("name", "ms", "words"),
    [
        ("register_blocked", 0.524, None),
        ("register_blocked", 0.33, None),
        ("register_blocked", 0.144, None),  # split products on matrix units reach float32's accuracy
        ("register_blocked", 0.06, "; with the accuracy of fp32 the stated work takes 0.06944"),
        ("register_blocked", 0.005, f"; on any unit of {GPU} the stated work takes 0.0"),
        ("wmma_tf32", 0.144, None),
        ("wmma_tf32", 0.005, f"; on any unit of {GPU} the stated work takes 0.0"),
    ],
)
def test_a_time_under_the_floor_of_its_unit_is_a_finding(name: str, ms: float, words: str | None) -> None:
    floor = comparison.floor_here(GPU, {"flops": 2.29e10, "bytes": 1.34e8})
    precisions = {"register_blocked": "fp32", "wmma_tf32": "tf32", "never_timed": "fp32"}
    found = comparison.under_floor(raced(samples(name, ms)), floor, precisions=precisions)
    assert [(one.probe, one.target, one.outcome, one.grade) for one in found] == (
        [("under_floor", name, "fail", "hint")] if words else []
    )
    assert all((words or "") in one.summary for one in found)


A, B = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32) for seed in (1, 2))
BITS = {"fp32": 21.0, "tf32": 11.3, "fp16": 11.3, "bf16": 8.3}


def rounded(values: Any, mantissa: int) -> Any:
    """Float32 numbers with so many bits behind the leading one, as the units of a GPU take their inputs."""
    parts, exponents = np.frexp(values)
    return np.ldexp(np.round(parts * 2.0 ** (mantissa + 1)) / 2.0 ** (mantissa + 1), exponents)


@pytest.mark.parametrize(
    ("name", "mantissa", "shown"),
    [
        ("baseline:eager", 23, "fp32"),
        ("baseline:eager", 10, "tf32"),
        ("baseline:eager_tf32", 23, "fp32"),
        ("baseline:eager_fp16", 10, "fp16"),
        ("baseline:eager_split_fp16", 21, "split_fp16"),
        ("baseline:eager", 7, "bf16"),
    ],
)
def test_the_precision_class_of_a_baseline_is_that_of_its_results(
    tmp_path: Path, name: str, mantissa: int, shown: str
) -> None:
    got = (rounded(A, mantissa).astype(np.float64) @ rounded(B, mantissa).astype(np.float64)).astype(np.float32)
    (tmp_path / "a.bin").write_bytes(got.tobytes())
    right = replace(case(tmp_path), expected=A.astype(np.float64) @ B.astype(np.float64))
    event = {"variant": name, "file": "a.bin", "inputs": 0, "block": 3, "whole": [64, 64], "rows": None,
             "shape": [64, 64], "dtype": "float32", "digest": digest_of(got.tobytes())}  # fmt: skip
    findings = verified([event], [right], CLAIM, tmp_path)
    taken = [*raced(samples(name, 2.7), samples("wmma", 0.3))]
    assert [one.precision for one in classed(taken, findings, BITS)] == [shown, None]
    assert classed(taken, findings, {}) == taken, "without yardsticks its name decides"
    assert comparison.precision_of(name, classed(taken, findings, BITS)) == shown


def test_without_a_floor_no_time_is_under_it() -> None:
    unknown = comparison.floor_here("NVIDIA L40S", {"flops": 1e12, "bytes": 1.0})
    assert comparison.under_floor(raced(samples("wmma", 1e-4)), unknown, precisions={"wmma": "fp32"}) == []


def test_a_session_that_spent_its_budget_or_was_never_steady_says_so() -> None:
    warmed = {"warmed": "wmma", "calls": 60, "stable": False, "first_ms": 1.0, "last_ms": 2.0}
    ended = {"session": {"blocks": 20, "seconds": 3.0, "tight": False}}
    result = checks.session_summary([warmed, ended], name="ladder", target="claim", half_width=0.01)
    assert result is not None
    assert "until its budget was spent; not steady after the warm-up's cap: wmma" in result.summary
    jumped: dict[str, Any] = {"session": {**ended["session"], "left_out": 2}}
    result = checks.session_summary([jumped], name="ladder", target="claim", half_width=0.01)
    assert result is not None
    assert "times that no clock can give were left out (2 samples): a clock jumped" in result.summary
    assert checks.session_summary([warmed], name="ladder", target="claim", half_width=0.01) is None


@pytest.mark.parametrize(
    ("later", "outcome", "words"),
    [
        ({}, "pass", "slowed by nothing"),
        ({"reasons": 0x4}, "fail", "slowed by power cap"),
        ({"sm_mhz": 1400}, "fail", "the clock drifted"),
        ({"processes": 3}, "pass", "up to 3 processes"),
    ],
)
def test_the_driver_view_between_blocks(later: dict[str, int], outcome: str, words: str) -> None:
    result = clocks(readings("ladder", [state(0), state(1, **later)]), target="claim")
    assert (result.outcome, words in result.summary) == (outcome, True), result.summary
    assert result.grade in (None, "hint")


def test_clocks_nobody_told_are_a_skip() -> None:
    assert clocks([], target="claim").outcome == "skip"


def kept(folder: Path, name: str, values: np.ndarray[Any, Any], rows: list[list[int]] | None = None) -> dict[str, Any]:
    data = values.astype(np.float32).tobytes()
    (folder / f"{name}.bin").write_bytes(data)
    digest = digest_of(data)
    return {"variant": name, "inputs": 0, "block": 7, "whole": [4, 4], "rows": rows, "file": f"{name}.bin",
            "shape": list(values.shape), "dtype": "float32", "digest": digest}  # fmt: skip


UNFIT: dict[str, tuple[dict[str, Any], str, str]] = {
    "rows there are none of": ({"rows": [[1, 2], [3, 9]], "shape": [2, 4]}, "channel", "rows of an output were told"),
    "pieces in another order": ({"rows": [[3, 4], [1, 2]], "shape": [2, 4]}, "channel", "rows of an output were told"),
    "fewer rows than told": ({"rows": [[1, 2]], "shape": [1, 4]}, "channel", "has not the shape that was told"),
    "another shape than its rows": ({"shape": [2, 2]}, "channel", "another shape than its rows"),
    "a type nobody compares": ({"dtype": "float8_e4m3fn"}, "timed_outputs", "elements of type float8_e4m3fn"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_kept_output_that_does_not_fit_what_was_told_ends_nothing(name: str, tmp_path: Path) -> None:
    result, probe, words = UNFIT[name]
    data = EXPECTED[:3, :3] if name == "fewer rows than told" else EXPECTED
    (found,) = verified([kept(tmp_path, "claimed", data) | result], [case(tmp_path)], CLAIM, tmp_path)
    assert (found.probe, words in found.summary) == (probe, True), found.summary
    assert found.fails_kernel == (probe == "timed_outputs")


def test_outputs_of_timed_calls_are_compared_with_the_oracle(tmp_path: Path) -> None:
    wrong = EXPECTED.copy()
    wrong[2, 1] = np.nan
    events = [kept(tmp_path, "shared_tiled", EXPECTED[[1, 3]], [[1, 2], [3, 4]]), kept(tmp_path, "claimed", wrong),
              {"variant": "no_op", "inputs": 0, "block": 0, "no_tensor": "int"},
              kept(tmp_path, "fixed_grid2d", EXPECTED) | {"whole": [2, 8]},
              kept(tmp_path, "rewritten", wrong) | {"digest": "0" * 64}]  # fmt: skip
    values = {one.target: one for one in verified(events, [case(tmp_path)], CLAIM, tmp_path)}
    assert values["shared_tiled"].outcome == "pass"
    assert values["claimed"].fails_kernel
    assert "in block 7: 1 of 16 elements wrong; at [2, 1] expected 9, got nan" in values["claimed"].summary
    assert "returned no tensor but int" in values["no_op"].summary
    assert (values["rewritten"].probe, values["rewritten"].outcome) == ("channel", "error"), "neither right nor wrong"
    assert "shape [2, 8]" in values["fixed_grid2d"].summary


def test_a_baseline_that_rounds_is_held_to_the_tolerance_of_variants_that_do() -> None:
    of = partial(tolerance_of, CLAIM)
    assert of("baseline:eager").relative == of("baseline:compile").relative == of("shared_tiled").relative == 1e-4
    assert of("baseline:graph_eager_tf32").relative == of("wmma_tf32").relative == 2e-2


def test_ours_is_the_protocol_of_interleaved_cold_samples() -> None:
    (one,) = raced(samples("wmma", 0.3))
    assert (one.protocol, len(one.blocks), one.session) == (OURS, 12, "ladder")


def test_without_any_stated_work_there_is_no_floor_here() -> None:
    found = comparison.floor_here("Tesla T4", {"flops": 0.0, "bytes": 0.0})
    assert (found.outcome, "states no least work" in found.summary) == ("skip", True)
