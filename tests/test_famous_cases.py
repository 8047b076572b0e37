"""The known mechanisms as claim folders: what each record concludes, and that a fresh audit concludes it again."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from audit import claims, cli, judge
from audit.model import Record, store

REPORTS = Path(__file__).resolve().parents[1] / "reports"


@dataclass(frozen=True)
class Case:
    """What a claim comes to: on the emulated device, on a GPU, the probes that prove it, the change that cures it."""

    emulated: str
    cuda: str
    proved_by: tuple[str, ...] = ()
    cure: str | None = None


EXPECTED = {
    "conv3d_groupnorm_mean": Case("wrong", "wrong", ("dead_inputs", "distributions", "task")),
    "library_call": Case("overstated", "overstated", ("kernels_ran",)),
    "wmma_vs_cublas": Case("wrong", "wrong", ("precision",), "rounding of the inputs"),
    "diag_matmul": Case("undecided", "overstated"),
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
    return {path.parent.relative_to(REPORTS).as_posix(): store.read(path) for path in paths}


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
    told = {finding.probe for finding in record.findings if finding.convicts}
    assert set(case.proved_by) <= told
    if case.cure is not None:
        assert verdict.root_cause is not None
        assert case.cure in verdict.root_cause


@pytest.mark.parametrize("name", RECORDS)
def test_every_repair_is_cleared(name: str) -> None:
    states = {rung.variant: rung.state for rung in RECORDS[name].ladder if rung.role == "repair"}
    assert set(states.values()) == {"cleared"}, states


@pytest.mark.parametrize("name", RECORDS)
def test_the_pictures_of_a_case_are_small(name: str) -> None:
    pictures = (REPORTS / name / "figures").glob("*.png")
    assert sum(picture.stat().st_size for picture in pictures) < 400_000


def trimmed(name: str, folder: Path, kept: tuple[str, ...]) -> Path:
    """A copy of a claim with some of its variants, so that little has to be compiled."""
    copy = Path(shutil.copytree(claims.KERNELS / name, folder / name))
    head, *variants = re.split(r"(?m)^(?=\[\[variant\]\])", (copy / "claim.toml").read_text(encoding="utf-8"))
    left = [variant for variant in variants if any(f'"{file}"' in variant for file in kept)]
    (copy / "claim.toml").write_text("".join([head, *left]), encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("conv3d_groupnorm_mean", ("claimed.cu",)),
        ("conv3d_min_clamp", ("claimed.py",)),
        ("cached_results", ("claimed.py", "ablation_no_cache.py")),
    ],
)
def test_a_fresh_audit_concludes_it_again(name: str, kept: tuple[str, ...], tmp_path: Path) -> None:
    folder = trimmed(name, tmp_path, kept)
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    record, case = store.read(tmp_path / "out/record.json"), EXPECTED[name]
    assert record.verdict.name == case.emulated
    assert set(case.proved_by) <= {finding.probe for finding in record.findings if finding.convicts}
    if case.cure is not None:
        assert case.cure in (record.verdict.root_cause or "")
