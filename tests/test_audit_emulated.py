"""The whole audit of the triangular claim on the emulated device, once, and everything it must say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit import judge
from audit.apps import cli
from audit.apps.bundle.verify import unlike
from audit.model import Finding, Record, store
from audit.probes import CONCLUSIONS
from tests.small_claim import trimmed

REPAIRS = ("fixed_grid2d", "shared_tiled", "wmma_f16", "ablation_grid2d")
AGAIN = ("claimed", "fixed_grid2d")
DEFECTIVE = ("claimed", "ablation_zero_init", "ablation_sync", "no_op")


def cut(folder: Path, *variants: str) -> Path:
    """The claim with these variants alone."""
    return trimmed("triangular_mm", folder, tuple(f"{name}.cu" for name in variants))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    claim = cut(folder / "claims", *DEFECTIVE, *REPAIRS)
    assert cli.main(["run", str(claim), "--device", "emulated", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def record(out: Path) -> Record:
    return store.read(out / "record.json")


def about(record: Record, variant: str) -> dict[str, Finding]:
    return {finding.probe: finding for finding in record.findings if finding.target == variant}


def test_verdict_is_wrong_with_high_confidence(record: Record) -> None:
    assert (record.verdict.name, record.verdict.confidence) == ("wrong", "high")
    assert any("1 of 255 rows written" in reason for reason in record.verdict.reasons)


def test_every_finding_follows_from_its_observations(record: Record) -> None:
    observed = [one for one in record.findings if one.evidence and one.probe in CONCLUSIONS]
    assert len(observed) > 10 * len(DEFECTIVE)
    assert unlike(record) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"outcome": "pass", "grade": None}, "its observations give fail: N=255: 1 of 255 rows written"),
        ({"summary": "N=255: all 65,025 elements written"}, "its observations give fail: N=255: 1 of 255 rows written"),
        ({"grade": "hint"}, "its observations give fail"),
        ({"claimed": False}, "its observations give fail"),
        ({"line": 9}, "its observations give fail"),
        ({"evidence": {}}, "fail without observations"),
        ({"evidence": {"elements": 65_025}}, "its observations are not those of this question (KeyError"),
    ],
)
def test_a_finding_that_does_not_follow_is_named(record: Record, change: dict[str, Any], why: str) -> None:
    changed = about(record, "claimed")["coverage"].model_copy(update=change)
    others = [one for one in record.findings if one != about(record, "claimed")["coverage"]]
    (result,) = unlike(record.model_copy(update={"findings": (*others, changed)}))
    assert result.startswith("coverage of claimed: ")
    assert why in result


def test_root_cause_is_the_grid_alone(record: Record) -> None:
    cause = record.verdict.root_cause
    assert cause is not None
    assert cause.startswith("The launch on line 36 has extent 1 along y")
    assert "Ablation confirms it: Changing only the 2-D grid makes the kernel right" in cause
    assert "the zero-initialised output alone only makes the defect show in both execution orders" in cause
    assert "the device synchronisation alone changes nothing" in cause


def test_ablation_table(record: Record) -> None:
    rows = {row.variant: (row.claim_first, row.reference_first) for row in judge.ablation_table(record)}
    assert rows == {
        "claimed": ("wrong", "right"),
        "ablation_zero_init": ("wrong", "wrong"),
        "ablation_sync": ("wrong", "right"),
        "ablation_grid2d": ("right", "right"),
    }


def test_reference_first_looks_right_with_difference_exactly_zero(record: Record) -> None:
    evidence: Any = about(record, "claimed")["order"].evidence
    assert evidence["reference_first"]["difference_zero"] is True
    assert evidence["claim_first"]["elements_wrong"] > 0


def test_coverage_is_exactly_one_row(record: Record) -> None:
    evidence = about(record, "claimed")["coverage"].evidence
    assert (evidence["rows_written"], evidence["rows"], evidence["elements_written"]) == (1, 255, 255)


def test_repeated_calls_are_counted(record: Record) -> None:
    found = about(record, "fixed_grid2d")["repeat"]
    assert found.outcome == "pass" and found.evidence["calls"] >= 8 and found.evidence["contents"] >= 2


@pytest.mark.parametrize("variant", REPAIRS)
def test_sound_variants_pass_every_probe(record: Record, variant: str) -> None:
    hints = {probe for probe, finding in about(record, variant).items() if finding.grade == "hint"}
    assert hints <= {"layout", "review.cast_down"}
    asked = {probe: one.outcome for probe, one in about(record, variant).items() if probe not in hints}
    open_ones = {probe: outcome for probe, outcome in asked.items() if outcome != "pass"}
    assert open_ones == dict.fromkeys(("current_stream", "late_writes", "claimed_blocks"), "skip")


@pytest.mark.parametrize("variant", DEFECTIVE)
def test_defective_variants_are_failed_and_confirmed(record: Record, variant: str) -> None:
    failures = [finding for finding in about(record, variant).values() if finding.fails_kernel]
    assert failures
    assert all(finding.confirmed for finding in failures)


def test_the_source_alone_hints_at_the_launch(record: Record) -> None:
    hint = about(record, "claimed")["launch_geometry"]
    assert (hint.outcome, hint.grade) == ("fail", "hint")
    source = (Path(__file__).parents[1] / "kernels/triangular_mm/claimed.cu").read_text().splitlines()
    assert hint.line is not None
    assert "<<<" in source[hint.line - 1]


def test_no_time_and_no_speedup_come_from_the_emulated_device(record: Record) -> None:
    assert record.measurements == ()
    assert {rung.median_ms for rung in record.ladder} == {None}


def test_report_figures_and_sidecar_are_there(out: Path) -> None:
    page = (out / "report.html").read_text(encoding="utf-8")
    text = (out / "report.md").read_text(encoding="utf-8")
    assert len(list(out.glob("figures/*.png"))) == 5
    for words in ("wrong", "NOT MEASURED", "1 of 255 rows written"):
        assert words in page
        assert words in text
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert json.loads((out / "record.json").read_text())["verdict"]["name"] == "wrong"


def without_pace(one: Finding) -> Finding:
    """Return the finding without its time, and `repeat` without the number of calls, which that time decides."""
    if one.probe != "repeat" or one.outcome != "pass":
        return one.model_copy(update={"seconds": None})
    evidence = {key: value for key, value in one.evidence.items() if key != "calls"}
    return one.model_copy(update={"seconds": None, "summary": "", "evidence": evidence})


def test_the_recorded_seed_gives_the_same_findings(record: Record, tmp_path: Path) -> None:
    """Of two variants audited without the others, so that it does not matter either what else is audited."""
    place = cut(tmp_path, *AGAIN)
    seed, out = str(record.environment.seeds[0]), tmp_path / "out"
    assert cli.main(["run", str(place), "--device", "emulated", "--seed", seed, "--out", str(out)]) == 0

    def plain(one: Record) -> list[Finding]:
        return [without_pace(finding) for finding in one.findings if finding.target in AGAIN]

    again = plain(store.read(out / "record.json"))
    assert again == plain(record)
    assert {finding.target for finding in again} == set(AGAIN)


def test_report_renders_again_from_the_record_alone(out: Path, tmp_path: Path) -> None:
    assert cli.main(["report", str(out / "record.json"), "--out", str(tmp_path)]) == 0
    for file in ("report.md", "report.html"):
        assert (tmp_path / file).read_bytes() == (out / file).read_bytes()


def test_a_killed_audit_leaves_a_record_that_says_incomplete(tmp_path: Path) -> None:
    claim, out = cut(tmp_path, "claimed"), tmp_path / "out"
    command = [sys.executable, "-m", "audit", "run", str(claim), "--device", "emulated", "--out", str(out)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    for line in running.stdout:
        if " s  verify " in line:
            break
    running.kill()
    running.wait()
    killed = store.read(out / "record.json")
    assert killed.verdict.name == "incomplete"
    assert any(finding.probe == "build" for finding in killed.findings), "what was written before is still there"
    assert not (out / "report.html").exists()
