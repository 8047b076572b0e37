"""Who is timed how, and what a timing process that fails leaves behind; a stand-in answers for the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from audit import claims, measure
from audit.build.cuda import CudaVariant
from audit.build.cuda_extension import CudaBuild
from audit.build.gpu import GpuState
from audit.measure import state, timing
from audit.measure.protocols import DO_BENCH, DO_BENCH_OF_MEAN, HOST_CLOCK, OURS
from audit.model import Variant
from audit.probes.target import Case
from audit.worker.pool import Reply, Workers

FOLDER = claims.load("triangular_mm")
CASE = Case({"N": 4096}, Path("5.inputs.pt"), np.zeros((1, 1)), "float32")
FAST = GpuState(1980.0, 2619.0, 300.0, 40.0, ())
HOT = GpuState(1400.0, 2619.0, 300.0, 88.0, ("software thermal limit",))


def names(variant: Variant, *, cleared: bool) -> list[str]:
    return [protocol["name"] for protocol in timing.wanted(variant, cleared=cleared)]


def variant(name: str) -> Variant:
    return next(one for one in FOLDER.claim.variant if one.name == name)


def test_what_is_not_cleared_is_timed_as_published_only() -> None:
    assert names(variant("claimed"), cleared=False) == [DO_BENCH, DO_BENCH_OF_MEAN]
    assert names(variant("shared_tiled"), cleared=False) == [DO_BENCH, DO_BENCH_OF_MEAN]


def test_what_is_cleared_is_timed_soundly_and_the_claim_both_ways() -> None:
    assert names(variant("shared_tiled"), cleared=True) == [OURS, HOST_CLOCK]
    assert names(variant("claimed"), cleared=True) == [DO_BENCH, DO_BENCH_OF_MEAN, OURS, HOST_CLOCK]


def test_a_cut_repetition_is_in_the_protocols_name() -> None:
    assert "rep=10000 cut to 1000" in DO_BENCH_OF_MEAN


class StandIn:
    """Answers a timing request with one sample a protocol; the variant `hangs` names does not end."""

    def __init__(self, hangs: str = "") -> None:
        self.hangs = hangs
        self.requests: list[dict[str, Any]] = []

    def call(self, kind: str, request: dict[str, Any], *, limit_s: float) -> Reply:
        assert (kind, limit_s) == ("timing", timing.TIMING_LIMIT_S)
        self.requests.append(request)
        who = request.get("variant", "baseline:eager")
        events = tuple(
            {"variant": who, "protocol": one["name"], "samples_ms": [1.0, 2.0]} for one in request["protocols"]
        )
        if who == self.hangs:
            return Reply("timed out", events[:1], "did not finish within 180 s")
        return Reply("finished", events, "")


def built(name: str) -> CudaVariant:
    build = CudaBuild(Path(f"{name}.so"), name, ("-O3",), "nvcc 13.0.88", 1.0, False, "")
    return CudaVariant(build=build, variant=variant(name), optimisation="published")


def all_times(monkeypatch: pytest.MonkeyPatch, workers: StandIn, *built_ones: str, cleared: set[str]) -> measure.Times:
    monkeypatch.setattr(timing.gpu, "state", lambda: FAST)
    session = measure.Session(FOLDER.claim, FOLDER.reference, CASE, cast(Workers, workers), lambda _: None)
    return measure.times(session, {name: built(name) for name in built_ones}, cleared=cleared)


def test_baselines_come_first_then_every_built_variant_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = StandIn()
    told = all_times(monkeypatch, workers, "claimed", "shared_tiled", cleared={"shared_tiled"})
    assert [request.get("variant") for request in workers.requests] == [None, "claimed", "shared_tiled"]
    assert workers.requests[0]["protocols"][0]["only"] == ["baseline:eager"]
    assert workers.requests[1]["library"] == "claimed.so"
    assert {(one.variant, one.protocol) for one in told.measurements if one.variant == "shared_tiled"} == {
        ("shared_tiled", OURS),
        ("shared_tiled", HOST_CLOCK),
    }
    assert all(one.shape == {"N": 4096} for one in told.measurements)
    assert [(one.probe, one.outcome) for one in told.findings] == [("clocks", "pass")]
    assert "1,980 to 1,980 MHz around 3 timings" in told.findings[0].summary


def test_a_timing_that_hangs_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    told = all_times(monkeypatch, StandIn("claimed"), "claimed", "wmma_f16", cleared={"wmma_f16"})
    assert [one.protocol for one in told.measurements if one.variant == "claimed"] == [DO_BENCH]
    assert [one for one in told.measurements if one.variant == "wmma_f16"]
    missing = told.findings[0]
    assert (missing.probe, missing.target, missing.outcome) == ("timing", "claimed", "error")
    assert "did not finish within 180 s" in missing.summary


def test_a_slowed_gpu_is_a_hint_with_its_reason() -> None:
    told = state.clocks([state.Watched("claimed", FAST, HOT)], target="triangular_mm")
    assert (told.outcome, told.grade) == ("fail", "hint")
    assert "1,400 to 1,980 MHz" in told.summary
    assert "slowed by software thermal limit" in told.summary
    assert told.evidence["timings"]


def test_clocks_nobody_told_are_a_skip() -> None:
    assert state.clocks([state.Watched("claimed", None, None)], target="triangular_mm").outcome == "skip"
