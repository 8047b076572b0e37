"""Every notebook runs from its first cell to its last without a GPU, through papermill, and leaves what it says."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError

from audit.apps import bundle
from audit.apps.batch.jobs import python_path
from audit.model import store
from audit.report.formats import COMMENT_CHARACTERS, OPENREVIEW_CHARACTERS
from tests.notebook.test_checklist import again
from tests.small_claim import trimmed

pytestmark = pytest.mark.audits

ROOT = Path(__file__).resolve().parents[2]
HEADLESS: dict[str, object] = {"interactive": False}


@pytest.fixture(autouse=True, scope="module")
def _as_on_a_laptop() -> Iterator[None]:
    """The notebooks import this checkout, and do not think that they are in Colab."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("COLAB_")]:
            patch.delenv(name)
        patch.setenv("PYTHONPATH", python_path())
        yield


def execute(name: str, folder: Path, /, **parameters: object) -> Any:
    """The notebook as papermill leaves it. Raises PapermillExecutionError where a cell raises."""
    executed = folder / f"{name}.ipynb"
    source = ROOT / "notebooks" / f"{name}.ipynb"
    papermill.execute_notebook(
        source, executed, parameters=parameters, cwd=str(source.parent), progress_bar=False, execution_timeout=300
    )
    return nbformat.read(executed, as_version=4)


def shown(executed: Any) -> str:
    """Every output of a notebook as one text."""
    return json.dumps([cell.get("outputs", []) for cell in executed.cells], ensure_ascii=False)


def first_outputs(executed: Any) -> list[str]:
    """What the cell of the audit shows, in its order; of a picture its kind."""
    (cell,) = [cell for cell in executed.cells if cell.get("id") == "run"]
    assert {one.output_type for one in cell.outputs} == {"display_data"}, "no line of the log stands open"
    return [one.data.get("text/markdown", "image/png") for one in cell.outputs]


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The batch notebook over one claim, so that `audit_claim.ipynb` is run by it and need not be run again."""
    out = tmp_path_factory.mktemp("batch")
    claim = trimmed("library_call", out / "claims", ("claimed.cu",), rows=300)
    values = {"collection": str(claim), "device": "emulated", "network_off": True, "out": str(out / "b")}
    return out, execute("batch", out, **values, **HEADLESS)


def test_a_batch_ends_in_its_summary(batch: tuple[Path, Any]) -> None:
    out, executed = batch
    text = shown(executed)
    assert "1 finished: overstated at notebook" in text
    assert "exit code 0" in text
    assert "summary.html" in text
    name = r"library\\\\\\\\_call"
    assert re.search(rf"\| {name} \| {name} \| notebook \| finished \| overstated \| 0 \| [0-9.]+ \| 1 \|", text)
    assert "summary.csv" in text
    assert 'href="library_call/report.html"' in (out / "b" / "summary.html").read_text(encoding="utf-8")
    assert [row["Id"] for row in csv.DictReader((out / "b" / "summary.csv").open())] == ["library_call"]
    assert (out / "b.zip").stat().st_size > 10_000


def test_an_audit_ends_in_a_report_a_bundle_and_texts_to_share(batch: tuple[Path, Any]) -> None:
    out, _ = batch
    folder = out / "b" / "library_call"
    record = store.read(folder / "record.json")
    assert record.verdict.name == "overstated"
    assert {one.probe for one in record.findings} >= {"agreement", "coverage", "memory_access"}
    assert bundle.verify(out / "b" / "library_call.zip").record == record
    (notebook,) = folder.glob("*.ipynb")
    executed = nbformat.read(notebook, as_version=4)
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")
    text = shown(executed)
    for words in ("**Verdict: overstated.**", "NOT MEASURED", "SHA-256", "openreview.md", "✓", "⚠"):
        assert words in text, words
    values = again(folder)
    assert (values["claim"], values["network_off"]) == (str(out / "claims" / "library_call"), True)
    assert "papermill -f " in text
    assert first_outputs(executed)[0].startswith("### Audit: ")
    assert "stages: prepare, lint, review, build" in text
    assert "text/html" not in text, "nobody watches, so no bar is drawn"
    assert len((folder / "comment.md").read_text(encoding="utf-8")) <= COMMENT_CHARACTERS
    assert len((folder / "openreview.md").read_text(encoding="utf-8")) <= OPENREVIEW_CHARACTERS


def test_your_kernel_as_it_stands(tmp_path: Path) -> None:
    values = {"device": "emulated", "out": str(tmp_path / "k"), "claimed_ratio": 12.0, "claimed_gpu": "T4", **HEADLESS}
    written = [ROOT / "notebooks" / name for name in ("your_kernel.cu", "your_reference.py")]
    try:
        executed = execute("your_kernel", tmp_path, **values)
    finally:
        for path in written:
            path.unlink(missing_ok=True)
    text = shown(executed)
    card, picture, times, files, log = first_outputs(executed)
    assert card.startswith("### Audit: ") and picture == "image/png"
    assert times == "NOT MEASURED: emulated device (CPU) recorded no time that counts."
    assert all(f"[{name}](<" in files for name in ("k.zip", "report.html", "openreview.md"))
    assert log.startswith("<details><summary>Log of the audit</summary>") and "chosen: shapes.emulated" in log
    assert "**Verdict: wrong.**" in text
    record = store.read(tmp_path / "k" / "record.json")
    assert [(one.gpu, one.ratio) for one in record.claim.statement.speedup] == [("T4", 12.0)]
    assert bundle.verify(tmp_path / "k.zip").record == record


def test_records_side_by_side(tmp_path: Path) -> None:
    record = ROOT / "reports" / "triangular_mm" / "h100" / "record.json"
    text = shown(execute("compare_gpus", tmp_path, records=str(record), out=str(tmp_path / "c"), **HEADLESS))
    assert "| T4 | 108.9x | 2.83 ms | not asked (wrong on NVIDIA H100 80GB HBM3) |" in text
    assert "A verdict speaks for the shapes and the device it names" in text
    assert "image/png" in text
    assert (tmp_path / "c" / "compare.html").stat().st_size > 10_000


def test_looking_around_leaves_still_figures(tmp_path: Path) -> None:
    executed = execute("explore", tmp_path)
    text = shown(executed)
    assert text.count("image/png") >= 4
    assert "4,096 of 16,777,216 elements written" in text
    assert "application/vnd.jupyter.widget-view+json" in text


@pytest.mark.parametrize("collection", ["ai_cuda_engineer", "trimul"])
def test_the_verdicts_of_a_public_set(tmp_path: Path, collection: str) -> None:
    folder = ROOT / "reports" / "datasets" / collection
    rows = list(csv.DictReader((folder / "verdicts.csv").open(encoding="utf-8")))
    verdict = rows[0]["verdict"]
    text = shown(execute("archive", tmp_path, collection=collection, verdict=verdict, most=5))
    chosen = sum(row["verdict"] == verdict for row in rows)
    assert f"'{chosen:,} of {len(rows):,} kernels'" in text
    assert "image/png" in text
    if collection == "ai_cuda_engineer":
        page = (folder / "README.md").read_text(encoding="utf-8")
        share = re.search(r"\| no defect found \| [^|]*\| (\d+) \| ([\d.]+) % ", page)
        assert share is not None
        assert all(word in text for word in (f">{share[1]}<", f">{share[2]}%<"))


def test_an_audit_that_cannot_start_says_so_in_one_sentence(tmp_path: Path) -> None:
    values = {"kernel": "missing.cu", "reference": "missing.py", "device": "emulated", "out": str(tmp_path / "k")}
    try:
        with pytest.raises(PapermillExecutionError) as caught:
            execute("your_kernel", tmp_path, **values, **HEADLESS)
    finally:
        for name in ("your_kernel.cu", "your_reference.py"):
            (ROOT / "notebooks" / name).unlink(missing_ok=True)
    assert "missing.cu" in str(caught.value) and "Traceback" not in str(caught.value)


def test_an_unknown_parameter_stops_it_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError) as caught:
        execute("audit_claim", tmp_path, claim="triangular_mm", devise="cuda", **HEADLESS)
    result = str(caught.value)
    assert "parameter devise: unknown; known: " in result
    assert "Traceback" not in result
