"""Imported claims, audited: a sound kernel of a KernelBench pair passes, a wrong one of an archive row is convicted."""

from __future__ import annotations

from pathlib import Path

from audit import cli
from audit.model import Record, store
from tests.importers import published

CLEARING = "contract agreement order coverage inherited inputs_intact memory_access kernels_ran".split()


def audited(source: Path, folder: Path) -> Record:
    assert cli.main(["import", str(source), "--to", str(folder / "claim")]) == 0
    assert cli.main(["run", str(folder / "claim"), "--device", "emulated", "--out", str(folder / "out")]) == 0
    return store.read(folder / "out" / "record.json")


def outcomes(record: Record) -> dict[str, str]:
    return {one.probe: one.outcome for one in record.findings if one.target == "claimed" and one.grade != "hint"}


def test_a_sound_kernelbench_solution_passes(tmp_path: Path) -> None:
    record = audited(published.write(tmp_path / "source", **published.FORMATS["kernelbench"]), tmp_path)
    found = outcomes(record)
    assert {probe: found[probe] for probe in CLEARING} == dict.fromkeys(CLEARING, "pass")
    assert record.verdict.name == "undecided"
    assert any("a time" in text for text in record.verdict.missing)
    assert {source.file for source in record.claim.sources} >= {"original/task.py", "original/solution.py"}
    assert (tmp_path / "out" / "report.html").exists()


def test_a_wrong_archive_kernel_is_convicted(tmp_path: Path) -> None:
    half = published.CU.replace("if (i < count)", "if (2 * i < count)")
    row = published.ARCHIVE_ROW | {"CUDA_Code": half}
    record = audited(published.write(tmp_path / "source", rows__jsonl=published.lines(row)), tmp_path)
    assert record.verdict.name == "wrong"
    assert outcomes(record)["coverage"] == "fail"
