"""The known mechanisms as claim folders: what each record concludes, and that a fresh audit concludes it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from audit import claims, judge
from audit.apps import cli
from audit.measure import OURS
from audit.model import Finding, Measurement, Record, store
from tests.conftest import finding, opened
from tests.small_claim import trimmed

pytestmark = pytest.mark.audits

REPORTS = Path(__file__).resolve().parents[1] / "reports"


@dataclass(frozen=True)
class Case:
    """What a claim comes to: on the emulated device, on a GPU, the probes that prove it, the change that cures it."""

    emulated: str
    cuda: str
    proved_by: tuple[str, ...] = ()
    cure: str | None = None


EXPECTED = {
    "conv3d_groupnorm_mean": Case("wrong", "wrong", ("dead_inputs", "distributions"), "input 1 (weight)"),
    "library_call": Case("overstated", "overstated", ("kernels_ran",)),
    "wmma_vs_cublas": Case("reduced precision", "reduced precision", ("precision",), "rounding of the inputs"),
    "diag_matmul": Case("no defect found", "weak baseline"),
    "conv3d_min_clamp": Case("vacuous", "vacuous", ("task",)),
    "side_stream": Case("undecided", "mistimed"),
    "shrunk_batch": Case("wrong", "wrong", ("contract",), "number of rows"),
    "cached_results": Case("wrong", "wrong", ("fresh_values", "repeat", "dead_inputs"), "look-up of results"),
    "lazy_tensor": Case("wrong", "wrong", ("contract",), "moment of the work"),
}
"""What only a GPU can say has another verdict there; `proved_by` is what every device that answers must prove."""


def records() -> dict[str, Record]:
    """Every published record of these claims, by claim and device."""
    paths = [path for name in EXPECTED for path in sorted((REPORTS / name).glob("*/record.json"))]
    return {path.parent.relative_to(REPORTS).as_posix(): opened(path) for path in paths}


RECORDS = records()


def test_every_case_has_a_record_and_a_repair() -> None:
    assert {name.partition("/")[0] for name in RECORDS} == set(EXPECTED)
    for name in EXPECTED:
        claim = claims.load(name).claim
        assert claim.claimed is not None
        assert any(variant.role == "repair" for variant in claim.variant), name
        assert claim.source.fidelity == "reconstruction"
        assert "our own reconstruction" in claim.source.note


@pytest.mark.parametrize("name", RECORDS)
def test_the_record_concludes_what_is_known(name: str) -> None:
    record, case = RECORDS[name], EXPECTED[name.partition("/")[0]]
    verdict = judge.judge(record)
    assert verdict.name == (case.cuda if record.device.kind == "cuda" else case.emulated)
    found = {finding.probe for finding in record.findings if finding.fails_kernel}
    assert set(case.proved_by) <= found
    if case.cure is not None:
        assert verdict.root_cause is not None
        assert case.cure in verdict.root_cause


@pytest.mark.parametrize("name", RECORDS)
def test_every_repair_is_cleared(name: str) -> None:
    states = {rung.variant: rung.state for rung in RECORDS[name].ladder if rung.role == "repair"}
    assert set(states.values()) == {"passed"}, states


@pytest.mark.parametrize("name", RECORDS)
def test_the_pictures_of_a_case_are_small(name: str) -> None:
    pictures = (REPORTS / name / "figures").glob("*.png")
    assert sum(picture.stat().st_size for picture in pictures) < 400_000


H100 = "NVIDIA H100 80GB HBM3"
BLOCKS = tuple(range(12))


def on_a_gpu(name: str, *more: Finding, times: dict[str, float] | None = None) -> Record:
    """The emulated record of a claim as a GPU might have answered it, with these findings and times."""
    record = RECORDS[f"{name}/emulated"]
    replaced = {(one.probe, one.target) for one in more}
    kept = [one for one in record.findings if (one.probe, one.target) not in replaced]
    found = [one.model_copy(update={"device": "cuda"}) if one.device else one for one in (*kept, *more)]
    shape = dict(record.claim.statement.shapes.claimed)
    common = {"shape": shape, "protocol": OURS, "session": "ladder", "blocks": BLOCKS, "positions": BLOCKS}
    taken = [
        Measurement.model_validate(
            {"variant": variant, "samples_ms": tuple(ms * (1 + at / 1000) for at in BLOCKS), **common}
        )
        for variant, ms in (times or {}).items()
    ]
    device = record.device.model_copy(update={"kind": "cuda", "name": H100})
    return record.model_copy(update={"device": device, "findings": tuple(found), "measurements": tuple(taken)})


def test_work_on_a_stream_that_nobody_waits_for_is_mistimed_where_streams_run() -> None:
    late = [finding(probe, "fail", device="cuda", confirmed=True) for probe in ("late_writes", "current_stream")]
    verdict = judge.judge(on_a_gpu("side_stream", *late))
    assert verdict.name == EXPECTED["side_stream"].cuda
    assert verdict.root_cause is not None
    assert "wait for the side stream" in verdict.root_cause


def test_a_real_ratio_that_the_same_algebra_reaches_is_told_as_both() -> None:
    times = {"claimed": 0.06, "baseline:eager": 2.7, "baseline:broadcast": 0.06}
    verdict = judge.judge(on_a_gpu("diag_matmul", times=times))
    assert verdict.name == EXPECTED["diag_matmul"].cuda
    reason, credit = verdict.reasons
    assert "1.00x" in reason and "against baseline:broadcast" in reason
    assert "the published ratio is real against baseline:eager" in credit


def test_without_the_same_algebra_the_ratio_is_confirmed() -> None:
    verdict = judge.judge(on_a_gpu("diag_matmul", times={"claimed": 0.06, "baseline:eager": 2.7}))
    assert verdict.name == "confirmed"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("library_call/emulated", "none of the source's own kernels made it"),
        (
            "conv3d_groupnorm_mean/emulated",
            "at its own inputs it cannot tell a right kernel from one that computes nothing",
        ),
        (
            "side_stream/emulated",
            'Missing: "The caller\'s stream", skipped here, on line 35: cudaStreamCreateWithFlags makes a stream',
        ),
        ("wmma_vs_cublas/emulated", "computes the result with fewer bits than it declares"),
        ("diag_matmul/h100", "the published ratio is real; a baseline given the same means reaches it too"),
        ("diag_matmul/emulated", "No variant of this claim changes one thing alone"),
    ],
)
def test_the_report_says_what_is_special_about_it(name: str, words: str) -> None:
    assert words in (REPORTS / name / "report.md").read_text(encoding="utf-8")


def test_a_map_is_drawn_where_something_is_left_unwritten_only() -> None:
    drawn = {path.parents[2].name for path in REPORTS.glob("*/emulated/figures/coverage.png")}
    assert drawn == {"triangular_mm"}


@pytest.mark.parametrize(
    ("name", "kept", "claimed"),
    [
        ("conv3d_groupnorm_mean", ("claimed.cu",), {"batch": 2}),
        ("conv3d_min_clamp", ("claimed.py",), {}),
        ("cached_results", ("claimed.py", "ablation_no_cache.py"), {}),
    ],
)
def test_a_fresh_audit_concludes_it_again(
    name: str, kept: tuple[str, ...], claimed: dict[str, int], tmp_path: Path
) -> None:
    folder = trimmed(name, tmp_path, kept, **claimed)
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    record, case = store.read(tmp_path / "out/record.json"), EXPECTED[name]
    assert record.verdict.name == case.emulated
    assert set(case.proved_by) <= {finding.probe for finding in record.findings if finding.fails_kernel}
    if case.cure is not None:
        assert case.cure in (record.verdict.root_cause or "")
