"""The part of the output that the claimed kernel writes, beside that of a passing variant on the same problem."""

from __future__ import annotations

from collections.abc import Sequence

from audit.judge.causes import shape_of
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.figures import maps
from audit.report.figures.maps import Grid, Key, Panel
from audit.report.messages import joined, message
from audit.report.quantities import number, shape
from audit.report.tables import coverage as in_words
from audit.report.view import Figure

NAME = "coverage"
KEY = Key(
    none=("pale", message("coverage.none_key")),
    some=("mid", message("coverage.some_key")),
    whole=("cool", message("coverage.whole_key")),
)


def draw(record: Record) -> Figure | None:
    """Return both maps; None without one of the claimed kernel, or where its output is written, or one element."""
    panels = _panels(record)
    if not panels:
        return None
    written = [(maps.named(record, one.target), in_words(record, one.target)) for one in panels]
    sizes = shape_of(panels[0])
    about = {
        "shape": shape(sizes) if sizes else message("coverage.one_shape"),
        "panels": joined(
            "semicolon", (message("coverage.written", variant=name, coverage=text) for name, text in written)
        ),
    }
    return drawn([(one, *words) for one, words in zip(panels, written, strict=True)],
                 alt=message("coverage.alt", **about), caption=message("coverage.caption", **about))  # fmt: skip


def drawn(panels: Sequence[tuple[Finding, str, str]], *, alt: str, caption: str) -> Figure:
    """Return the maps of findings side by side, each under the name of its variant and how much is written."""
    return maps.figure(NAME, KEY, [_panel(*panel) for panel in panels], alt=alt, caption=caption)


def grid(finding: Finding) -> Grid | None:
    """Return the map of a finding; None where it is absent or none."""
    return maps.grid(finding.evidence.get("map"))


def _panel(finding: Finding, name: str, words: str) -> Panel:
    told = message("coverage.only_written", coverage=words)
    if "output" in finding.evidence:
        told = message("errors.of_output", told=told, output=str(finding.evidence["output"]))
    return Panel(name=name, told=told, rows=grid(finding) or [[0.0]], sides=_sides(finding))


def _sides(finding: Finding) -> str:
    """Return the sides of the output that the map shows."""
    rows, elements = evidence.real(finding, "rows"), evidence.real(finding, "elements")
    if not rows or not elements or "output" in finding.evidence:
        return ""
    if rows == 1:
        return message("coverage.vector", last=number(int(elements) - 1))
    return message("coverage.sides", rows=number(int(rows)), columns=number(int(elements // rows)))


def _panels(record: Record) -> list[Finding]:
    claimed = evidence.find(record, NAME, record.claimed_name)
    if claimed is None or grid(claimed) is None or claimed.outcome == "pass" or claimed.evidence.get("elements") == 1:
        return []
    others = maps.of_passing(record, NAME)
    same = [one for one in others if grid(one) and one.evidence.get("shape") == claimed.evidence.get("shape")]
    return [claimed, *same[:1]]
