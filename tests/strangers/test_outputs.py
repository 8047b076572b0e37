"""One hostile text in every field of what a page is made from: the page has the elements it always has."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tomllib
from html import escape
from pathlib import Path

import pytest

from audit import claims
from audit.apps.batch import summary
from audit.apps.bundle import derived
from audit.apps.notebook import maps, results
from audit.apps.notebook import records as explored
from audit.apps.notebook.shown import table
from audit.apps.pages import self_test
from audit.apps.selftest.command import matrix
from audit.apps.selftest.record import SelfTest, read, to_json
from audit.build.notes import failed_note
from audit.claims import ClaimFolder
from audit.claims.importers import entries as code
from audit.claims.importers import writer
from audit.claims.importers.facts import Figure, Imported, Missing, Original, Reference
from audit.model import Record
from audit.model.errors import CompileError
from audit.report import compare, safe_csv
from tests.conftest import some
from tests.report.fixture import measured, triangular
from tests.strangers.hostile import (
    BROKEN,
    HOSTILE,
    Page,
    batch,
    columns_of,
    marked_up,
    poisoned,
    shown,
    unseen,
)  # fmt: skip

KEPT = frozenset({
    "sha256", "url", "file", "name", "precision", "probe", "outcome", "grade", "state", "fidelity", "published", "kind",
    "emulated_by", "dtype", "mode", "confidence", "variant", "order", "target", "role", "result", "control", "folder",
    "expected", "found",
})  # fmt: skip


def hostile_record(text: str = HOSTILE) -> Record:
    document = poisoned(measured(triangular()).model_dump(mode="json", by_alias=True), text, KEPT)
    document["device"]["name"] = text
    document["claim"]["statement"]["source"]["url"] = f"javascript:alert(1)//{text}"
    for one in document["measurements"]:
        one["session"] = one["protocol"] = text
    return Record.model_validate(document, strict=False)


@pytest.fixture(scope="module")
def record() -> Record:
    return hostile_record()


def at_work(text: str) -> list[object]:
    """What a hostile text does in Markdown that should only hold it: nothing."""
    uneven = [bars for bars in columns_of(text) if len(bars) != 1]
    return [*unseen(text), *marked_up(text), *uneven]


def added(hostile: str, plain_one: str) -> list[object]:
    """What HTML of hostile texts has beyond that of harmless ones, elements, attributes and addresses: nothing."""
    found, due = Page(hostile), Page(plain_one)
    return [*unseen(hostile), *(found.elements - due.elements), *(found.leads - due.leads)]


def test_what_these_tests_look_for_is_found() -> None:
    assert len(marked_up(HOSTILE)) > 8
    assert len(unseen(HOSTILE)) > 8
    assert {tag for tag, _ in Page(HOSTILE).elements} >= {"script", "img"}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: ascii(text)[:20])
def test_markdown_takes_any_text(text: str) -> None:
    assert not at_work(shown(text))
    assert "\n" not in shown(text)


def test_a_batch(tmp_path: Path) -> None:
    for name, text in (("hostile", HOSTILE), ("harmless", "x")):
        summary.write(*batch(text), tmp_path / name, about={text: text})
    pages = {name: (tmp_path / name / "summary.html").read_text(encoding="utf-8") for name in ("hostile", "harmless")}
    assert not added(pages["hostile"], pages["harmless"])
    assert not at_work((tmp_path / "hostile" / "summary.md").read_text(encoding="utf-8"))
    data = json.loads((tmp_path / "hostile" / "summary.json").read_text())
    assert data["items"][0]["attempts"][0]["reasons"] == [HOSTILE]


def test_records_side_by_side(record: Record, tmp_path: Path) -> None:
    assert not at_work(compare.compare([record]))
    assert not at_work(compare.CARRIES_OVER)
    pages = {}
    for name, one in (("hostile", record), ("harmless", hostile_record("x"))):
        compare.write([one], tmp_path / name)
        pages[name] = (tmp_path / name / "compare.html").read_text(encoding="utf-8")
    assert not added(pages["hostile"], pages["harmless"])
    assert not at_work((tmp_path / "hostile" / "compare.md").read_text(encoding="utf-8"))


def test_cells_of_a_notebook(record: Record, tmp_path: Path) -> None:
    assert not at_work(results.card(record))
    assert not at_work(results.ladder(record, tmp_path).partition("\n\n")[0])  # then a link to a file of ours
    assert not at_work(table((HOSTILE, "b"), [(HOSTILE, HOSTILE)]))


def test_a_source_is_shown_as_the_compiler_reads_it(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(claims.KERNELS / "triangular_mm", tmp_path / "triangular_mm"))
    loaded = claims.load(str(folder))
    (folder / "claimed.cu").write_text(f"// {HOSTILE}\nint a; /*\u202e */ \n{'`' * 7}\n", encoding="utf-8")
    result = str(results.source(ClaimFolder(folder, loaded.audited)))
    assert "⟨U+202E⟩" in result and "⟨U+001B⟩" in result
    assert not unseen(result)
    assert marked_up(result) == []
    assert result.splitlines()[2].startswith("`" * 8)
    changed = str(results.changes(ClaimFolder(folder, loaded.audited)))
    assert "⟨U+202E⟩" in changed
    assert not unseen(changed)
    assert "`" * 8 + "diff\n" in changed


def test_pickers_and_figures_of_a_record(record: Record) -> None:
    drawn = explored.figures(record, maps.first(record))
    for figure in some(drawn):
        assert not unseen(figure.alt + figure.caption)
        assert not Page(escape(figure.caption)).elements


def test_a_bundle_for_other_tools(record: Record) -> None:
    crate = json.loads(derived.crate(record, {"record.json": b""}))
    (root,) = (one for one in crate["@graph"] if one["@id"] == "./")
    assert "isBasedOn" not in root
    assert json.loads(derived.statement(record, {"record.json": b""}))["predicate"]["result"] == "FAILED"
    rows = list(csv.reader(io.StringIO(derived.samples(record).decode())))
    assert not unseen("".join(cell for row in rows for cell in row), allowed="")
    assert {len(row) for row in rows} == {len(derived.COLUMNS)}


@pytest.mark.parametrize(
    "text", [*BROKEN, "-1+1", "@x", "＝1", "\t=1", "\r=1", " =1"], ids=lambda text: ascii(text)[:20]
)
def test_no_cell_is_a_formula(text: str) -> None:
    ((cell, number),) = list(csv.reader(io.StringIO(safe_csv.text(("a", "b"), [(text, -1.5)]))))[1:]
    assert not cell.startswith(safe_csv.FORMULA)
    assert not unseen(cell, allowed="")
    assert number == "-1.5"


def test_a_self_test() -> None:
    path = claims.KERNELS.parent / "reports" / "self_test" / "emulated.json"
    document = poisoned(json.loads(to_json(read(path))), HOSTILE, KEPT)
    found = SelfTest.model_validate_json(json.dumps(document))
    assert not unseen(matrix(found))
    text = self_test.text([found])
    assert not unseen(text)
    assert "<script>" not in text


def imported(text: str) -> Imported:
    reference = Reference("module", {"file": text, "init_inputs": code.shown([text]), "sizes": {}})
    return Imported(
        format="archive", provenance=text, name="x", title=text, task=text, dtype="float32",
        originals=(Original("a.py", b"", text),), claimed=None, reference=reference,
        shapes=None, authors=text, published=None, url=text, baseline=text, flags=(text,), steps=(text,),
        figures=(Figure(text, 1.0, "ratio", text, text),), missing=(Missing(text, text, text),), choices=(text,),
    )  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: ascii(text)[:20])
def test_an_imported_claim(text: str) -> None:
    written = writer.claim_toml(imported(text), name="x")
    assert not unseen(written)
    table = tomllib.loads(written)
    whole = "".join("\ufffd" if "\ud800" <= letter < "\ue000" else letter for letter in text)
    assert (table["title"], table["source"]["url"], table["speedup"][0]["gpu"]) == (whole, whole, whole)
    assert set(table) == {
        "name",
        "title",
        "task",
        "dtype",
        "baseline",
        "source",
        "protocol",
        "harness",
        "speedup",
        "original",
    }
    reference = imported(text).reference
    assert reference is not None
    source = code.reference_py(reference)
    compile(source, "reference.py", "exec")


def test_a_compilers_log_is_bounded_and_names_no_folder() -> None:
    variant = claims.load("triangular_mm").claim.variant[0]
    error = CompileError(f"/home/me/secret/a.cu: {HOSTILE} " * 10_000, header_set="micro")
    note = failed_note(variant, "O2", error, Path("a.cu"))
    assert len(note.log) <= 4000
    assert "/home/me" not in note.log
