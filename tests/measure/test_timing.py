"""Who is timed how, and what a timing process that fails leaves behind; a stand-in answers for the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from audit import claims, measure
from audit.build.settings import CudaSettings
from audit.measure import independent_clock, prepared, timing
from audit.measure.samples import BUSY, DO_BENCH, DO_BENCH_OF_MEAN, OURS
from audit.run.messages.timing_requests import EMPTY, EMPTY_CALLS, READINGS, Alone, Compiled, Interleaved, Published
from audit.run.processes.pool import Reply, Workers
from tests.measure.stand_in import StandIn, case, session

FOLDER = claims.load("triangular_mm")
EAGER, BLOCKED, AGAIN = "baseline:eager", "baseline:blocked", "control:again:wmma_split"


class Built:
    orders = ("forward",)

    def __init__(self, name: str) -> None:
        self.name = name

    def settings(self, *, memory: str, order: str, check: bool) -> CudaSettings:
        assert (memory, order, check) == ("plain", "forward", False)
        return CudaSettings(digests={}, library=Path(f"{self.name}.so"), module="m", memory=memory)


def builds(*names: str) -> dict[str, Any]:
    return {name: Built(name) for name in names}


def ladder(request: Interleaved) -> list[dict[str, Any]]:
    return session(request, baseline__eager=2.7, baseline__blocked=1.8, wmma_split=0.3, control__again__wmma_split=0.3)


def unverified_timing(request: Published) -> list[dict[str, Any]]:
    (one,) = request.variants
    return [{"variant": one.name, "protocol": p.name, "samples_ms": [0.02]} for p in request.protocols]


def alone(request: Alone) -> Reply:
    """Calls of 0.9 ms of the claimed kernel or 2 ms of a baseline, behind those of an empty kernel of 0.01 ms."""
    name, each_ms = ("claimed", 0.9) if request.variants else (f"baseline:{request.baseline}", 2.0)
    events, arrived_s = [], []
    for of, ms, calls in ((EMPTY, 0.01, EMPTY_CALLS), (name, each_ms, request.calls)):
        for reading in range(READINGS):
            events += [{"independent_clock": of, "at": at, "calls": calls} for at in ("begin", "end")]
            arrived_s += [2.0 * reading, 2.0 * reading + ms * calls / 1e3]
    return Reply("finished", tuple(events), "", tuple(arrived_s))


def opened(workers: StandIn, folder: Path) -> measure.Session:
    ready = prepared.Ready(("compile",))
    say: list[str] = []
    return measure.Session(
        FOLDER.claim, FOLDER.reference, case(folder), cast(Workers, workers), say.append, ready=ready
    )


@pytest.fixture(autouse=True)
def _no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.gpu, "state", lambda: None)


def test_what_passed_runs_side_by_side_and_the_claim_is_timed_apart(tmp_path: Path) -> None:
    workers = StandIn(interleaved=ladder, published=unverified_timing)
    result = measure.times(opened(workers, tmp_path), builds("claimed", "no_op", "wmma_split"), passed={"wmma_split"})
    assert workers.kinds() == ["cases", "interleaved", "published"]
    _, race, alone = workers.requests
    assert [one.name for one in race.variants] == ["wmma_split"]
    assert (race.baselines, race.compiled) == (None, ("compile",))
    assert [one.name for one in alone.variants] == ["claimed"], "no timing of what is ours and did not pass"
    assert {one.protocol for one in result.measurements if one.variant == "claimed"} == {DO_BENCH, DO_BENCH_OF_MEAN}
    assert {one.protocol for one in result.measurements if one.variant == "wmma_split"} >= {OURS, BUSY}
    ours = [one for one in result.measurements if one.protocol == OURS]
    assert all(one.blocks and one.session == "ladder" for one in ours)


def test_the_findings_of_a_good_session(tmp_path: Path) -> None:
    workers = StandIn(interleaved=ladder, published=unverified_timing)
    result = measure.times(opened(workers, tmp_path), builds("wmma_split"), passed={"wmma_split"})
    found = {(one.probe, one.target): one.outcome for one in result.findings}
    assert found == {
        ("timed_outputs", EAGER): "pass",
        ("timed_outputs", BLOCKED): "pass",
        ("timed_outputs", "wmma_split"): "pass",
        ("floor_here", "NVIDIA H100 80GB HBM3"): "pass",
        ("timing", "triangular_mm"): "pass",
        ("same_twice", "triangular_mm"): "pass",
        ("l2_flush", "triangular_mm"): "pass",
        ("clocks", "triangular_mm"): "pass",
    }


def test_without_do_bench_the_blocks_are_timed_all_the_same_and_a_skip_says_why(tmp_path: Path) -> None:
    absent = {"skipped": "triton.testing.do_bench", "why": "ModuleNotFoundError: No module named 'triton'"}
    workers = StandIn(interleaved=lambda request: [*ladder(request), absent], published=lambda _: [absent])
    result = measure.times(opened(workers, tmp_path), builds("claimed", "wmma_split"), passed={"wmma_split"})
    skips = {(one.target, one.summary) for one in result.findings if one.outcome == "skip"}
    why = "triton.testing.do_bench gave no times: ModuleNotFoundError: No module named 'triton'"
    assert ("triangular_mm", why) in skips
    assert not [one for one in result.findings if one.outcome == "error"]
    found = measure.compared(result.measurements, "wmma_split", EAGER)
    assert found is not None
    assert found.word == "faster"


def test_a_build_that_comes_late_runs_beside_eager_and_the_strongest_baseline(tmp_path: Path) -> None:
    workers = StandIn(interleaved=ladder, published=unverified_timing, alone=alone)
    one = opened(workers, tmp_path)
    first = measure.times(one, builds("wmma_split"), passed={"wmma_split"})
    workers.answers["interleaved"] = lambda request: session(
        request, baseline__eager=2.7, baseline__blocked=1.8, claimed=0.9
    )
    later = measure.times(one, builds("claimed"), passed={"claimed"}, baselines=False)
    assert workers.kinds() == ["cases", "interleaved", "cases", "interleaved", *["alone"] * 3, "published"]
    race = workers.requests[3]
    assert (race.baselines, race.compiled, [one.name for one in race.published]) == (
        ("eager", "blocked"),
        (),
        [DO_BENCH],
    )
    assert {one.session for one in later.measurements} == {"later", ""}, "each call tells its own"
    found = measure.compared([*first.measurements, *later.measurements], "claimed", BLOCKED)
    assert found is not None
    assert found.ratio.value == pytest.approx(2.0)


def test_a_claim_that_passed_is_timed_by_the_clock_of_another_process_and_a_baseline_once(tmp_path: Path) -> None:
    def both(request: Interleaved) -> list[dict[str, Any]]:
        return session(request, baseline__eager=2.7, baseline__blocked=1.8, claimed=0.9)

    workers = StandIn(interleaved=both, published=unverified_timing, alone=alone)
    one = opened(workers, tmp_path)
    first = measure.times(one, builds("claimed"), passed={"claimed"})
    asked = [request for request in workers.requests if request.kind == "alone"]
    assert [(len(each.variants), each.baseline, each.calls) for each in asked] == [
        (1, None, 67),
        (0, "eager", 23),
        (0, "blocked", 34),
    ]
    assert [request.kind for request in workers.requests[-4:]] == ["alone", "alone", "alone", "published"]
    ratio = independent_clock.ratio(first.measurements, "claimed", EAGER)
    assert ratio == pytest.approx(2.0 / 0.9, rel=0.01)
    (clock,) = [found for found in first.findings if found.probe == independent_clock.NAME]
    assert clock.outcome == "pass"
    measure.times(one, builds("claimed"), passed={"claimed"}, baselines=False)
    assert [request.kind for request in workers.requests].count("alone") == 4, "the published build alone"


def test_the_ratio_of_six_processes_is_pooled_and_leaves_every_other_time_alone(tmp_path: Path) -> None:
    def race(request: Interleaved) -> list[dict[str, Any]]:
        return session(
            request, baseline__eager=2.7, baseline__blocked=1.8, wmma_f16=0.2, register_blocked=0.9, no_op=2.0
        )

    names = ("wmma_f16", "register_blocked", "no_op")
    workers = StandIn(interleaved=race, published=unverified_timing)
    one = opened(workers, tmp_path)
    first = measure.times(one, builds(*names), passed=set(names))
    kernels = iter([0.90, 0.91, 0.89, 0.88, 0.92, 0.905])

    def again(request: Interleaved) -> list[dict[str, Any]]:
        ms = next(kernels)
        times = {"baseline__eager": 2.7, "baseline__blocked": 1.8, "register_blocked": ms}
        return session(request, **times, control__again__register_blocked=ms)

    workers.answers["interleaved"] = again
    more = measure.repeated(one, builds(*names), measure.leading(one, builds(*names), set(names)))
    asked = [request for request in workers.requests if request.kind == "interleaved"][1:]
    assert len(asked) == 6
    assert {(tuple(v.name for v in each.variants), each.baselines) for each in asked} == {
        (("register_blocked",), ("eager", "blocked"))
    }, "the fastest of the claimed precision, beside eager and the strongest"
    assert {(each.profile, each.published, each.ceilings) for each in asked} == {(0, (), False)}, "ratios alone"
    every = [*first.measurements, *more.measurements]
    found = measure.compared(every, "register_blocked", EAGER)
    assert found is not None
    assert (found.ratio.processes, found.ratio.blocks) == (6, 72)
    assert (found.ratio.low, found.ratio.high) == pytest.approx((2.7 / 0.92, 2.7 / 0.88), rel=0.003)
    assert "6 processes, 72 blocks" in found.sentence()
    assert measure.median_ms(every, "register_blocked") == measure.median_ms(first.measurements, "register_blocked")
    fewer = [one for one in every if one.session != "process 6"]
    alone = measure.compared(fewer, "register_blocked", EAGER)
    assert alone is not None
    assert alone.ratio.processes == 1, "five are too few for an interval between them"


def test_a_process_whose_control_differs_is_not_pooled(tmp_path: Path) -> None:
    workers = StandIn(interleaved=lambda request: session(request, baseline__eager=2.7, claimed=0.9), alone=alone)
    one = opened(workers, tmp_path)
    first = measure.times(one, builds("claimed"), passed={"claimed"})
    again = iter([0.9] * 5 + [1.2])
    workers.answers["interleaved"] = lambda request: session(
        request, baseline__eager=2.7, claimed=0.9, control__again__claimed=next(again)
    )
    more = measure.repeated(one, builds("claimed"), measure.leading(one, builds("claimed"), {"claimed"}))
    found = measure.compared([*first.measurements, *more.measurements], "claimed", EAGER)
    assert found is not None
    assert found.ratio.processes == 1


def test_nothing_is_repeated_where_nothing_of_the_claimed_precision_passed(tmp_path: Path) -> None:
    workers = StandIn(interleaved=ladder, published=unverified_timing)
    one = opened(workers, tmp_path)
    measure.times(one, builds("claimed", "wmma_split"), passed={"wmma_split"})
    assert measure.leading(one, builds("claimed", "wmma_split"), {"wmma_split"}) == []


def test_a_claim_that_gives_no_time_alone_is_an_error(tmp_path: Path) -> None:
    def ends(request: Alone) -> Reply:
        return Reply("crashed", (), "died of SIGSEGV") if request.variants else alone(request)

    def both(request: Interleaved) -> list[dict[str, Any]]:
        return session(request, baseline__eager=2.0, baseline__blocked=2.0, claimed=0.9)

    workers = StandIn(interleaved=both, published=unverified_timing, alone=ends)
    result = measure.times(opened(workers, tmp_path), builds("claimed"), passed={"claimed"})
    (clock,) = [found for found in result.findings if found.probe == independent_clock.NAME]
    assert (clock.target, clock.outcome) == ("claimed", "error")


def test_a_callable_that_ends_the_process_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    def race(request: Interleaved) -> Reply | list[dict[str, Any]]:
        names = [one.name for one in request.variants]
        if "wmma_f16" in names:
            return Reply("crashed", ({"trying": EAGER}, {"trying": "wmma_f16"}), "the process died of SIGSEGV")
        return ladder(request)

    workers = StandIn(interleaved=race)
    result = measure.times(
        opened(workers, tmp_path), builds("wmma_f16", "wmma_split"), passed={"wmma_f16", "wmma_split"}
    )
    assert workers.kinds() == ["cases", "interleaved", "interleaved"]
    assert [one for one in result.measurements if one.variant == "wmma_split"]
    (crash,) = [one for one in result.findings if one.outcome == "error"]
    assert (crash.probe, crash.target) == ("timing", "ladder")
    assert "SIGSEGV" in crash.summary


def test_a_session_that_breaks_off_keeps_its_samples_and_says_so(tmp_path: Path) -> None:
    workers = StandIn(interleaved=lambda request: Reply("timed out", tuple(ladder(request)), "did not finish"))
    result = measure.times(opened(workers, tmp_path), builds("wmma_split"), passed={"wmma_split"})
    assert workers.kinds().count("interleaved") == 1
    assert [one for one in result.measurements if one.variant == "wmma_split"]
    assert any(one.outcome == "error" and "timed out" in one.summary for one in result.findings)


def test_nothing_is_timed_on_a_gpu_that_others_use(tmp_path: Path) -> None:
    workers = StandIn(interleaved=lambda _: [{"shared": 93}])
    result = measure.times(opened(workers, tmp_path), builds("wmma_split"), passed={"wmma_split"})
    assert not result.measurements
    (found,) = [one for one in result.findings if "others use" in one.summary]
    assert (found.target, found.outcome) == ("ladder", "error")
    assert found.summary == "not timed: others use this GPU 93 % of the time, and ratios may be far off"


def test_a_baseline_that_fails_is_an_error_of_its_own(tmp_path: Path) -> None:
    failed = {"failed": "baseline:compile", "why": "BackendCompilerFailed: no Triton"}
    workers = StandIn(interleaved=lambda request: [*ladder(request), failed])
    result = measure.times(opened(workers, tmp_path), builds("wmma_split"), passed={"wmma_split"})
    (missing,) = [one for one in result.findings if one.outcome == "error"]
    assert (missing.target, "no Triton" in missing.summary) == ("baseline:compile", True)
    assert measure.compared(result.measurements, "wmma_split", EAGER) is not None


def test_compiling_ahead_tells_what_could_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    good = [{"trying": name} for name in prepared.AHEAD] + [{"loaded": prepared.AHEAD[0], "seconds": 3.0}]
    workers = StandIn(compiled=lambda _: Reply("timed out", tuple(good), "did not finish within 180 s"))
    result = prepared.compile_ahead(
        cast(Workers, workers), reference=FOLDER.reference, shape={"N": 4}, inputs=tmp_path / "i"
    )
    assert result.names == ("compile",)
    assert [one.target for one in result.findings] == ["baseline:compile_max_autotune"]
    assert "did not finish within 180 s" in result.findings[0].summary


def test_what_was_compiled_before_is_loaded_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))

    def compiles(request: Compiled) -> list[dict[str, Any]]:
        there = [file.name for file in request.inductor.iterdir()]
        (request.inductor / f"code{len(there)}").write_text("made")
        return [{"loaded": name, "seconds": 1.0} for name in prepared.AHEAD]

    workers = StandIn(compiled=compiles)
    for _ in range(2):
        result = prepared.compile_ahead(
            cast(Workers, workers), reference=FOLDER.reference, shape={"N": 4}, inputs=tmp_path / "i"
        )
        assert (result.names, result.findings) == (prepared.AHEAD, ())
    assert workers.requests[1].compile_workers == 1


def test_a_cut_repetition_is_in_the_protocols_name() -> None:
    assert "rep=10000 cut to 300" in DO_BENCH_OF_MEAN
