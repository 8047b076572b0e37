"""Times beside the claimed size: which sizes, where there is no room for one, and times of right results alone."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from audit import claims, measure
from audit.build.cuda.gpu import Gpu
from audit.measure import comparison, prepared, sizes, timing
from audit.measure.samples import DO_BENCH, OURS, SIZED
from audit.model import Finding, Measurement
from audit.model.errors import BadInput
from audit.run.messages.requests import Cases
from audit.run.messages.results import Results, digest_of
from audit.run.messages.timing_requests import Interleaved
from audit.run.processes.pool import Reply, Workers
from tests.measure.stand_in import EXPECTED, GPU, StandIn, case, session
from tests.measure.test_timing import alone, builds, unverified_timing

FOLDER = claims.load("triangular_mm")
CLAIMED = {"N": 4096}
EAGER, DIAGONALS = "baseline:eager", "baseline:diagonals"


@pytest.fixture(autouse=True)
def _an_h100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.gpu, "state", lambda: None)
    monkeypatch.setattr(sizes.gpu, "find", lambda: Gpu(GPU, 90, "580", 80 << 10, None))
    monkeypatch.setattr(sizes.limits, "memory_bytes", lambda: 64 << 30)


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        ({"N": 4096}, [{"N": 2048}, {"N": 4095}, {"N": 8192}]),
        ({"N": 4097}, [{"N": 2048}, {"N": 4095}, {"N": 8194}]),
        ({"M": 64, "N": 512, "K": 512}, [{"M": 64, "N": n, "K": n} for n in (256, 511, 1024)]),
        ({"batch": 128, "rows": 64}, [{"batch": n, "rows": 64} for n in (64, 127, 256)]),
        ({"case": 1}, []),
        ({}, []),
    ],
)
def test_half_an_odd_size_and_the_double_of_the_greatest(
    claimed: dict[str, int], expected: list[dict[str, int]]
) -> None:
    assert sizes.around(claimed) == expected


@pytest.mark.parametrize(
    ("gib", "shape", "left_s", "words"),
    [
        (0.25, {"N": 8192}, 50.0, ""),
        (3.0, {"N": 8192}, 50.0, "its session may need 96.0 GiB of memory, and there are 64.0 GiB"),
        (3.0, {"N": 2048}, 50.0, ""),
        (0.25, {"N": 2048}, 4.0, "the 60 s for other sizes were spent"),
    ],
)
def test_a_size_without_memory_or_time_for_it_is_refused_with_the_reason(
    tmp_path: Path, gib: float, shape: dict[str, int], left_s: float, words: str
) -> None:
    with (tmp_path / "0.inputs.pt").open("wb") as file:
        file.truncate(int(gib * sizes.GIB) - EXPECTED.nbytes)
    assert sizes.refused(replace(case(tmp_path), shape=CLAIMED), shape, 80 << 30, left_s) == words


def cases_of(request: Cases) -> Reply:
    """The two cases of a shape, with the right result of `stand_in`; the reference refuses an odd size."""
    (shape,) = {tuple(one.items()) for one in request.shapes}
    if shape == (("N", 4095),):
        return Reply("raised", (), "ValueError: N must be even")
    results = Results()
    with open(results.fileno(), "wb", closefd=False) as file:
        file.write(EXPECTED.tobytes())
    right = {"expected_shape": [4, 4], "expected_dtype": "float32", "expected_at": 0}
    made = [{"case": number, "shape": dict(shape), **right} for number in range(len(request.shapes))]
    return Reply("finished", ({"cost": {"flops": 1e9, "bytes": 1e6}}, *made), "", results=results)


def race(request: Interleaved) -> list[dict[str, Any]]:
    """A session in which the claimed kernel is twice as fast as eager; from N = 8192 on it returns zeros."""
    ms = (request.shape["N"] / 4096) ** 3
    times = {"baseline__eager": 2.7 * ms, "baseline__diagonals": 0.95 * ms, "claimed": 1.35 * ms, "wmma_f16": 0.1 * ms}
    named = {one.name for one in request.variants} | {f"baseline__{one}" for one in request.baselines or ()}
    kept = {name: one for name, one in times.items() if name in named or request.baselines is None}
    _, *rest = session(request, **kept, control__again__claimed=1.35 * ms)
    events = [{"gpu": GPU, "cost": {"flops": 2e10 * ms, "bytes": 1e6}}, *rest]
    if request.shape["N"] < 8192:
        return events
    zeros = np.zeros((4, 4), np.float32).tobytes()
    (request.folder / "zeros.bin").write_bytes(zeros)
    wrong = {"file": "zeros.bin", "digest": digest_of(zeros)}
    return [one | wrong if one.get("variant") == "claimed" and "file" in one else one for one in events]


def test_each_size_has_a_session_of_its_own_and_times_of_right_results(tmp_path: Path) -> None:
    workers = StandIn(interleaved=race, published=unverified_timing, alone=alone)
    one = measure.Session(
        FOLDER.claim, FOLDER.reference, replace(case(tmp_path), shape=CLAIMED), cast(Workers, workers), [].append,
        ready=prepared.Ready(()),
    )  # fmt: skip
    (tmp_path / "0.inputs.pt").write_bytes(b"")
    one.known = measure.times(one, builds("claimed"), passed={"claimed"}).measurements
    workers.answers["cases"], before = cases_of, len(workers.requests)
    taken = sizes.times(one, builds("claimed"))
    asked = workers.requests[before:]
    assert [request.kind for request in asked] == ["cases", "interleaved", "cases", "cases", "interleaved"]
    sessions = [request for request in asked if request.kind == "interleaved"]
    assert [(each.shape, each.budget_s, each.profile, each.ceilings) for each in sessions] == [
        ({"N": 2048}, timing.BRIEF_S, 0, False),
        ({"N": 8192}, timing.BRIEF_S, 0, False),
    ]
    assert all(each.baselines == ("eager", "diagonals") and len(each.inputs) == 2 for each in sessions)
    assert {(each.variant, each.shape["N"]) for each in taken.measurements} == {
        *((name, 2048) for name in ("claimed", "control:again:claimed", EAGER, DIAGONALS)),
        *((name, 8192) for name in (EAGER, DIAGONALS)),
    }
    assert {each.protocol for each in taken.measurements} == {SIZED}, "no figure of the claimed shape takes them"
    (found,) = taken.findings
    assert (found.probe, found.outcome, found.shape, found.fails_kernel) == (sizes.NAME, "pass", None, False)
    text = (
        "timed at N=2048, N=8192 too; N=4095: NOT MEASURED: reference.py gave no inputs: raised: ValueError: N must be"
    )
    assert found.summary.startswith(text)
    assert "; N=8192: claimed: wrong in 1 of 1 timed calls chosen at random" in found.summary
    rows = cast(list[dict[str, Any]], found.evidence["sizes"])
    assert [(row["sizes"], bool(row["why"]), list(row["left_out"])) for row in rows] == [
        ({"N": 2048}, False, []),
        ({"N": 4095}, True, []),
        ({"N": 8192}, False, ["claimed"]),
    ]
    assert [row.get("flops") for row in rows] == [1e9, None, 1e9], "each size has floors of its own"


def test_without_a_driver_that_answers_no_size_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> Gpu:
        raise BadInput("nvidia-smi does not answer")

    monkeypatch.setattr(sizes.gpu, "find", silent)
    one = measure.Session(
        FOLDER.claim, FOLDER.reference, replace(case(tmp_path), shape=CLAIMED), cast(Workers, StandIn()), [].append
    )
    taken = sizes.times(one, builds("claimed"))
    assert taken.measurements == ()
    assert taken.findings[0].summary.count("NOT MEASURED: nvidia-smi does not answer") == 3


def test_the_class_that_a_baseline_shows_at_another_size_is_none_of_the_claimed_one() -> None:
    eager = of(EAGER, OURS).model_copy(update={"precision": "tf32"})
    half = of(EAGER, SIZED).model_copy(update={"precision": "fp32"})
    assert comparison.precision_of(EAGER, [eager, half]) == "tf32"


def of(name: str, protocol: str) -> Measurement:
    return Measurement(variant=name, shape={"N": 8}, protocol=protocol, samples_ms=(1.0, 1.1), session="N=8")


def told(name: str, probe: str, outcome: str, grade: str | None = None) -> Finding:
    values = {"probe": probe, "target": name, "outcome": outcome, "grade": grade, "summary": f"{probe} of {name}"}
    return Finding.model_validate(values)


def test_only_cold_times_of_callables_that_were_right_count() -> None:
    findings = [
        told("a", "timed_outputs", "pass"),
        told("b", "timed_outputs", "fail", "proved"),
        told("c", "timed_outputs", "pass"),
        told("c", "under_floor", "fail", "hint"),
        told("d", "timed_outputs", "pass"),
        told("d", "timing", "fail", "hint"),
        told("f", "timing", "error"),
    ]
    names = ("a", "control:again:a", "b", "c", "d", "e")
    taken = measure.Times((*(of(name, OURS) for name in names), of("a", DO_BENCH)), tuple(findings))
    counts, left_out = sizes.counted(taken)
    assert [one.variant for one in counts] == ["a", "control:again:a", "d"]
    assert left_out == {"b": "timed_outputs of b", "c": "under_floor of c", "f": "timing of f"}


def test_a_claim_of_which_no_size_could_be_timed_has_a_skip() -> None:
    found = sizes.finding([sizes.At({"N": 8192}, "the 60 s for other sizes were spent")], target="claim")
    assert (found.outcome, found.summary) == ("skip", "N=8192: NOT MEASURED: the 60 s for other sizes were spent")


def test_the_sessions_end_with_their_deadline(tmp_path: Path) -> None:
    limits: list[float] = []

    class Hangs(StandIn):
        def call(self, request: Any, *, limit_s: float) -> Reply:  # noqa: ARG002
            limits.append(limit_s)
            trying = ({"trying": "claimed"},) if len(limits) == 1 else ()
            return Reply("timed out", trying, "no answer")

    one = measure.Session(FOLDER.claim, FOLDER.reference, case(tmp_path), cast(Workers, Hangs()), [].append)
    short = one.at([case(tmp_path)], until=time.monotonic() + 20)
    short.interleaved("N=8", builds("claimed"), baselines=("eager",), brief=True)
    assert len(limits) == 2, "again without the kernel that hung"
    assert all(limit <= 20 for limit in limits)
