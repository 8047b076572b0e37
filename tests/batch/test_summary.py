"""The page of a batch: every claim in every order, nothing that runs, nothing from outside, nobody's markup."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from audit.apps.batch import summary
from audit.apps.batch.state import Attempt, End, ItemState, Outcome, RunState
from audit.model import VerdictName

HOSTILE = "<script>alert(1)</script> | `x` \x1b[31m [link](http://evil.example)"


def entry(name: str, state: Outcome, verdict: VerdictName | str = "", *, seconds: float, reason: str = "") -> ItemState:
    end = End(returncode=0, seconds=seconds)
    started = f"2026-11-21T00:00:{seconds:06.3f}+00:00"
    reasons = (reason,) if reason else ()
    attempt = Attempt(
        stage="notebook", outcome=state, verdict=verdict, reasons=reasons, seconds=seconds, started_utc=started,
        end=end,
    )  # fmt: skip
    return ItemState(item=name, sha256="", attempts=(attempt,))


ENTRIES = [
    entry("beta", "finished", "wrong", seconds=3.0),
    entry("alpha", "finished", "confirmed", seconds=9.0),
    entry("<b>gamma", "failed", seconds=1.0, reason=HOSTILE),
    ItemState(item="delta", sha256=""),
]
RUN = RunState(collection="of four", items=4, seed=1)


class Page(HTMLParser):
    """First cells of the rows of each table, and every tag and link."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[str]] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self._row = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag == "table":
            self.tables.append([])
        self._row = tag == "th" and ("scope", "row") in attrs

    def handle_data(self, data: str) -> None:
        if self._row:
            self.tables[-1].append(data)
        self._row = False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("batch")
    (place / "alpha").mkdir()
    (place / "alpha" / "report.html").write_text("")
    (place / "alpha.zip").write_bytes(b"")
    summary.write(RUN, ENTRIES, place, about={"Engine": HOSTILE})
    return place


def test_each_order_holds_every_claim(folder: Path) -> None:
    page = Page((folder / "summary.html").read_text())
    *_, first, second, third, fourth = page.tables
    orders = [first, second, third, fourth]
    assert orders == [
        ["<b>gamma", "alpha", "beta", "delta"],
        ["alpha", "beta", "<b>gamma", "delta"],
        ["delta", "<b>gamma", "alpha", "beta"],
        ["alpha", "beta", "<b>gamma", "delta"],
    ]
    assert list(summary.ORDERS) == ["name", "verdict", "state", "seconds"]


def test_no_script_no_network_no_foreign_markup(folder: Path) -> None:
    text = (folder / "summary.html").read_text()
    page = Page(text)
    assert not {"script", "b", "link", "iframe"} & set(page.tags)
    assert {link for link in page.links if not link.startswith(("data:image/png", "#"))} == {
        "alpha/report.html",
        "alpha.zip",
    }
    assert "\x1b" not in text
    assert "<script" not in (folder / "summary.md").read_text()
    assert "http://evil" not in (folder / "summary.md").read_text()


def test_counts_and_json(folder: Path) -> None:
    data = json.loads((folder / "summary.json").read_text())
    assert data["exit_code"] == 130
    assert [(one["state"], one["verdict"], one["items"]) for one in data["counts"]] == [
        ("finished", "confirmed", 1), ("finished", "wrong", 1), ("failed", "", 1), ("not run", "", 1),
    ]  # fmt: skip
    assert [(one["id"], one["collection"]) for one in data["items"]] == [(one.item, "of four") for one in ENTRIES]
    assert "4 items: 2 finished, 1 failed, 1 not run." in (folder / "summary.md").read_text()


def test_every_table_of_items_has_their_ids_and_the_collection(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "summary.csv").open()))
    assert {row["Id"] for row in rows} == {one.item for one in ENTRIES}
    assert {row["Collection"] for row in rows} == {"of four"}
    page, text = ((folder / f"summary.{ending}").read_text() for ending in ("html", "md"))
    assert page.count("<td>of four</td>") == len(summary.ORDERS) * len(ENTRIES)
    assert page.count('<th scope="row">of four</th>') == 4  # a row of the counts for every state and verdict
    assert text.count("| of four |") == 4 + len(ENTRIES)


def test_the_same_entries_give_the_same_page(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.glob("summary.*")}
    summary.write(RUN, ENTRIES, folder, about={"Engine": HOSTILE})
    assert {path.name: path.read_bytes() for path in folder.glob("summary.*")} == before
