"""The pages of published sets: short enough for five minutes, with links that lead somewhere and Parquet as the CSV."""

from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from pyarrow import parquet

ROOT = Path(__file__).resolve().parents[2]
SETS = sorted(path for path in (ROOT / "reports" / "datasets").iterdir() if path.is_dir())
FIVE_MINUTES, TWO_PAGES = 1200, 1300
"""Words: 240 a minute; 650 a page."""
UNREAD = re.compile(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)|[|#*`]|:?---:?")
"""Parts of a page in Markdown that a reader does not see as words: comments, pictures, addresses, rules of tables."""
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def words(text: str) -> int:
    """Return how many words a reader of the page sees."""
    return len(UNREAD.sub(" ", text).split())


def test_words_are_those_that_a_reader_sees() -> None:
    assert words("<!-- a part -->\n| one | two |\n| --- | ---: |\n![a picture](x.png) [three four](y.md) **five**") == 5


@pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)
def test_a_page_takes_five_minutes_and_a_note_is_there(folder: Path) -> None:
    assert words((folder / "README.md").read_text(encoding="utf-8")) <= FIVE_MINUTES
    note = (folder / "note.md").read_text(encoding="utf-8")
    assert "To reproduce" in note
    assert "faq_for_authors.md" in note


def test_the_findings_are_two_pages() -> None:
    assert words((ROOT / "docs" / "findings.md").read_text(encoding="utf-8")) <= TWO_PAGES


@pytest.mark.parametrize(
    "page", [page for folder in SETS for page in folder.glob("*.md")], ids=lambda path: str(path)[-40:]
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8").replace("\\_", "_")):
        assert target.startswith("https:") or (page.parent / target).exists(), target


@pytest.fixture
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdicts_parquet", ROOT / "bench" / "verdicts_parquet.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_table_of_verdicts_stands_beside_its_parquet(writer: ModuleType) -> None:
    named = {f"{path.parent.name}/{path.stem}" for folder in SETS for path in folder.glob("verdicts.csv")}
    assert named <= {*writer.NUMBERS}
    stale = [
        name
        for name in writer.NUMBERS
        if not parquet.read_table(writer.FOLDER / f"{name}.parquet").equals(writer.table(name))
    ]
    assert stale == [], "python bench/verdicts_parquet.py writes them again"


def test_an_empty_cell_of_a_column_of_numbers_is_null(
    writer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "FOLDER", tmp_path)
    monkeypatch.setattr(writer, "NUMBERS", {"t": {"id": int, "ratio": float}})
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "hash", "ratio"], ["7", "0123", ""], ["8", "", "1.5"]])
    writer.main()
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == [
        {"id": 7, "hash": "0123", "ratio": None},
        {"id": 8, "hash": "", "ratio": 1.5},
    ]
