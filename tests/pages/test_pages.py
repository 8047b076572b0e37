"""What is made from the kit is what the kit says now; every probe and verdict has its page; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from audit.apps import pages, selftest
from audit.apps.pages import between, tables
from audit.apps.pages.described import ProbeText, controls_of, question, read
from audit.model import VerdictName
from audit.model.errors import BadInput
from audit.probes import OF_THE_CLAIM, PROBES

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def test_nothing_is_stale() -> None:
    assert pages.stale() == [], "python -m audit.apps.pages"


@pytest.mark.parametrize(
    ("page", "names"), [("probes", [*PROBES, *OF_THE_CLAIM]), ("verdicts", list(get_args(VerdictName)))]
)
def test_every_probe_and_every_verdict_has_a_section(page: str, names: list[str]) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert re.findall(r"^##+ `(.+)`$", text, re.MULTILINE) == names


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_asks_and_has_controls(probe: str) -> None:
    module = PROBES[probe]
    assert question(probe).endswith("?")
    assert probe == module.NAME
    assert controls_of(probe, "known_bad")
    assert controls_of(probe, "known_good")


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        if not target.startswith("https:"):
            place = (path.parent / target).resolve()
            assert place.exists(), target
            assert not anchor or anchor[1:] in headings(place), anchor


def headings(path: Path) -> set[str]:
    """The anchors GitHub makes of the headings of a page."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_a_probe_without_a_text_is_told() -> None:
    with pytest.raises(BadInput, match="new_probe: every one needs a text"):
        read("probes", ProbeText, [*PROBES, "new_probe"])


def test_the_gravest_grade_of_a_page_is_that_of_the_published_self_test() -> None:
    published = selftest.read(ROOT / "reports" / "self_test" / "emulated.json")
    found: dict[str, set[str | None]] = {}
    for row in published.rows:
        if row.probe in PROBES and row.role == "known_bad" and row.result in ("proved", "flagged"):
            found.setdefault(row.probe, set()).add(row.answers[row.probe].grade)
    assert len(found) > 15
    for name, text in read("probes", ProbeText, PROBES).items():
        assert name not in found or ("proved" in found[name]) == (text.worst == "proved"), name


def test_every_notebook_has_one_badge_and_the_readme_those_that_audit() -> None:
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/notebooks.md"))
    found = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert found >= set(tables.AUDITS)
    assert all(page.count(tables.badge(name)) == 1 for name in found)
    assert all(readme.count(tables.badge(name)) == 1 for name in tables.AUDITS)


def test_a_part_needs_its_two_comments() -> None:
    with pytest.raises(BadInput, match="must stand there once each"):
        between("no place for it", "", part="states", file="docs/batch.md")
