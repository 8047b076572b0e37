"""Repairs that the audit generates: what they name, where their sources lie, and that no verdict rests on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from audit import claims, judge
from audit.apps import bundle, cli
from audit.apps.bundle import archive
from audit.apps.bundle.archive import encoded
from audit.model import Record, store
from audit.report.figures import maps
from audit.report.view import Figure
from tests.bundle.forging import rehashed, told
from tests.importers import published

pytestmark = pytest.mark.audits

ROWS = "controls_undefined"


def audited(folder: Path, kernel: Path, reference: Path, *options: str) -> Record:
    """The record of a bare `.cu` and its reference."""
    command = ["check", str(kernel), str(reference), "--tolerance", "1e-4", "--device", "emulated"]
    assert cli.main([*command, "--out", str(folder / "out"), *options]) == 0
    return store.read(folder / "out" / "results" / "record.json")


def changes(record: Record) -> dict[str, bool]:
    """Each generated change, and whether it makes the result right."""
    return {row.changes[0]: row.right for row in judge.ablation_table(record) if row.changes}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Record]:
    """The first claim's kernel alone."""
    folder, claim = tmp_path_factory.mktemp("first"), claims.KERNELS / "triangular_mm"
    shutil.copy(claim / "claimed.cu", folder / "triangular.cu")
    return folder, audited(folder, folder / "triangular.cu", claim / "reference.py", "--shape", "N=33")


def test_the_first_claims_kernel_alone_names_its_grid(first: tuple[Path, Record]) -> None:
    folder, record = first
    assert changes(record) == {"2-D grid": True, "zero-initialised output": False}
    cause = record.verdict.root_cause or ""
    assert cause.startswith("The launch on line 36 has extent 1 along y")
    assert "A change that the audit generated confirms it: With the 2-D grid alone the kernel is right" in cause
    report = (folder / "out" / "results" / "report.html").read_text(encoding="utf-8")
    assert "triangular.cu, line 36: " in report
    assert "claimed.cu" not in report.partition('id="environment"')[0]
    assert "made by the audit from triangular.cu with one change, 2-D grid: with this one change" in report
    assert "dim3(blocks, N), threads" in report


def test_its_source_lies_beside_the_record_and_is_the_claimed_one_but_for_a_line(first: tuple[Path, Record]) -> None:
    folder, record = first
    before = (folder / "out" / "triangular" / "claimed.cu").read_text(encoding="utf-8").splitlines()
    after = (folder / "out" / "results" / "generated" / "generated_1.cu").read_text(encoding="utf-8").splitlines()
    assert [(one, other) for one, other in zip(before, after, strict=True) if one != other] == [
        (record.generated[0].change.removed[0], record.generated[0].change.added[0])
    ]
    assert "generated_1.cu" not in {one.file for one in record.claim.sources}


@pytest.mark.parametrize("figure", [maps.coverage, maps.errors])
def test_the_maps_show_the_change_that_is_right_beside_the_claim(
    first: tuple[Path, Record], figure: Callable[[Record], Figure | None]
) -> None:
    _, record = first
    both = figure(record)
    assert both is not None and "; generated_1 (2-D grid): " in both.alt
    wrong = tuple(one for one in record.findings if one.target != "generated_1")
    alone = figure(record.model_copy(update={"findings": wrong}))
    assert alone is not None and "generated" not in alone.alt, "the other change is no repair"


def test_no_verdict_rests_on_it(first: tuple[Path, Record]) -> None:
    _, record = first
    own = tuple(one for one in record.findings if not one.target.startswith("generated"))
    assert len(own) < len(record.findings)
    without = judge.judge(record.model_copy(update={"generated": (), "findings": own}))
    assert without.model_copy(update={"root_cause": record.verdict.root_cause}) == record.verdict
    assert {one.variant for one in record.ladder} == {"claimed"}


def test_its_bundle_is_sound_and_a_changed_source_is_not(first: tuple[Path, Record], tmp_path: Path) -> None:
    folder, record = first
    made = bundle.make(folder / "out" / "results", claim=folder / "out" / "triangular", out=tmp_path / "b.zip")
    assert bundle.verify(made).record.generated == record.generated
    files = archive.unpack(made.read_bytes())
    other = {"generated/generated_1.cu": files["generated/generated_1.cu"] + b"\n"}
    assert told(tmp_path / "c.zip", rehashed(files, **other)).startswith("generated/generated_1.cu does not follow")
    fewer = {name: data for name, data in files.items() if name != "generated/generated_2.cu"}
    assert told(tmp_path / "d.zip", rehashed(fewer)) == "it has no generated/generated_2.cu"
    changed = record.model_dump(mode="json", by_alias=True)
    changed["generated"][0]["change"]["added"] = ["// nothing"]
    text = told(tmp_path / "e.zip", rehashed(files, **{"record.json": encoded(changed)}))
    assert text.startswith("record.json has a generated repair that does not follow from its source: generated_1.cu: ")


def test_a_missing_barrier_is_named(tmp_path: Path) -> None:
    folder = claims.KERNELS / ROWS
    record = audited(tmp_path, folder / "race_shared_bad.cu", folder / "reference.py", "--shape", "rows=3", "cols=300")
    assert (record.verdict.name, changes(record)["barrier before line 29"]) == ("undefined", True)
    assert "With the barrier before line 29" in (record.verdict.root_cause or "")


def test_the_cuda_source_of_a_python_file_is_repaired_in_place(tmp_path: Path) -> None:
    parts = dict(published.FORMATS["kernelbench"])
    parts["task__py"] = parts["task__py"].replace("batch_size = 4096", "batch_size = 4099")
    parts["solution__py"] = parts["solution__py"].replace("if (i < count)", "if (i <= count)")
    source = published.write(tmp_path / "source", **{name: parts[name] for name in ("task__py", "solution__py")})
    assert cli.main(["check", str(source), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    record = store.read(tmp_path / "out" / "results" / "record.json")
    assert changes(record) == {"comparison < on line 10": True}
    assert (tmp_path / "out" / "results" / "generated" / "generated_1.py").is_file()
    assert bundle.verify(bundle.make(tmp_path / "out" / "results", claim=tmp_path / "out" / "source"))
