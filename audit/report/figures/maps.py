"""Maps of an output: where the claimed kernel writes it, and where it is wrong, beside a passing variant.

The share of each cell has one of three colours, under the words for how much it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from audit.judge.causes import shape_of, sizes_of
from audit.judge.evidence import objects
from audit.judge.ladder import rungs
from audit.model import Finding, Record, Shape
from audit.report import evidence
from audit.report.drawing import SMALL, WIDE, Box, Paint, Part, Words
from audit.report.figures import raster
from audit.report.messages import Recorded, count_of, joined, message, number, shape
from audit.report.tables import coverage as in_words
from audit.report.view import Figure

SIDE, GAP = 208, 24
HEAD, FOOT = 56, 34
MOST_BOXES = 500
"""Of a drawing; a map of more pieces is smaller as a PNG."""
Grid = list[list[float]]


@dataclass(frozen=True)
class Key:
    """The colours of a cell of which nothing, a part and all is meant, each with its meaning."""

    none: tuple[Paint, str]
    some: tuple[Paint, str]
    whole: tuple[Paint, str]

    def paint(self, share: float) -> Paint:
        """Return the colour of a cell."""
        return (self.none if share == 0 else self.whole if share == 1 else self.some)[0]


@dataclass(frozen=True)
class Panel:
    """One map: the name of the variant, how much of it is marked, the shares, and the sides of the output."""

    name: str
    told: str
    rows: Grid
    sides: str = ""


def figure(name: str, key: Key, panels: Sequence[Panel], *, alt: str, caption: str) -> Figure:
    """Return the maps side by side."""
    parts = [*_legend(key)]
    for place, panel in enumerate(panels):
        parts += _panel(key, panel, place * (SIDE + GAP), 24.0)
    foot = FOOT if any(panel.sides for panel in panels) else 4
    fits = len(parts) <= MOST_BOXES
    return raster.figure(name, 24 + HEAD + SIDE + foot, parts, alt=alt, caption=caption, svg=fits)


def grid(rows: Any) -> Grid | None:
    """Return a map of a record; None where it is absent or no rectangle of shares from 0 to 1."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(_is_share(cell) for row in rows for cell in row):
        return None
    return rows


def of_passing(record: Record, probe: str) -> Iterator[Finding]:
    """Give a probe's findings about the other variants that passed, repairs first and generated ones last."""
    known = [rung for rung in record.ladder if rung.role != "claimed"]
    made = rungs([one.variant for one in record.generated], record.findings)
    for rung in (*sorted(known, key=lambda rung: rung.role != "repair"), *made):
        found = evidence.find(record, probe, rung.variant)
        if rung.state == "passed" and found is not None:
            yield found


def named(record: Record, variant: str) -> str:
    """Return the name of a variant, of a generated one with its change."""
    made = {one.variant.name: one.change.what for one in record.generated}
    return message("form.generated", variant=variant, change=Recorded(made[variant])) if variant in made else variant


def _is_share(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and 0 <= cell <= 1


def _legend(key: Key) -> Iterator[Part]:
    """Give the meaning of the three colours in one line."""
    for place, (paint, text) in enumerate((key.none, key.some, key.whole)):
        left = place * WIDE / 3
        yield Box(left, 3, 16, 12, paint, "soft")
        yield Words(left + 22, 9, text, size=SMALL, wide=WIDE / 3 - 24)


def _panel(key: Key, panel: Panel, left: float, top: float) -> Iterator[Part]:
    """Give the name, how much is marked, the map, and how many rows and columns it stands for."""
    yield Words(left, top + 14, panel.name, wide=SIDE, bold=True)
    yield Words(left, top + 37, panel.told, size=SMALL, wide=SIDE, most=2)
    yield from _map(key, panel.rows, left, top + HEAD)
    if panel.sides:
        yield Words(left, top + HEAD + SIDE + 14, panel.sides, "soft", SMALL, wide=SIDE)


def _map(key: Key, rows: Grid, left: float, top: float) -> Iterator[Part]:
    """Give the cells, alike neighbours as one box, on a ground of those of which nothing is meant."""
    ground = key.paint(0)
    yield Box(left, top, SIDE, SIDE, ground)
    wide, tall = SIDE / len(rows[0]), SIDE / len(rows)
    painted = ([key.paint(cell) for cell in row] for row in rows)
    down = 0
    for cells, alike in groupby(painted):
        count, across = len(list(alike)), 0
        for paint, run in groupby(cells):
            length = len(list(run))
            if paint != ground:
                yield Box(left + across * wide, top + down * tall, length * wide, count * tall, paint)
            across += length
        down += count
    yield Box(left, top, SIDE, SIDE, "none", "soft")


COVERAGE = "coverage"
WRITTEN = Key(
    none=("pale", message("coverage.none_key")),
    some=("mid", message("coverage.some_key")),
    whole=("cool", message("coverage.whole_key")),
)


def coverage(record: Record) -> Figure | None:
    """Return both maps; None without one of the claimed kernel, or where its output is written, or one element."""
    panels = _coverages(record)
    if not panels:
        return None
    written = [(named(record, one.target), in_words(record, one.target)) for one in panels]
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
    return figure(COVERAGE, WRITTEN, [_written(*panel) for panel in panels], alt=alt, caption=caption)


def written_grid(finding: Finding) -> Grid | None:
    """Return the map of a finding; None where it is absent or none."""
    return grid(finding.evidence.get("map"))


def _written(finding: Finding, name: str, words: str) -> Panel:
    told = message("coverage.only_written", coverage=words)
    if "output" in finding.evidence:
        told = message("errors.of_output", told=told, output=str(finding.evidence["output"]))
    return Panel(name=name, told=told, rows=written_grid(finding) or [[0.0]], sides=_sides(finding))


def _sides(finding: Finding) -> str:
    """Return the sides of the output that the map shows."""
    rows, elements = evidence.real(finding, "rows"), evidence.real(finding, "elements")
    if not rows or not elements or "output" in finding.evidence:
        return ""
    if rows == 1:
        return message("coverage.vector", last=number(int(elements) - 1))
    return message("coverage.sides", rows=number(int(rows)), columns=number(int(elements // rows)))


def _coverages(record: Record) -> list[Finding]:
    claimed = evidence.find(record, COVERAGE, record.claimed_name)
    if claimed is None or written_grid(claimed) is None:
        return []
    if claimed.outcome == "pass" or claimed.evidence.get("elements") == 1:
        return []
    others = of_passing(record, COVERAGE)
    same = [one for one in others if written_grid(one) and one.evidence.get("shape") == claimed.evidence.get("shape")]
    return [claimed, *same[:1]]


ERRORS, AGREEMENT = "errors", "agreement"
WRONG = Key(
    none=("cool", message("errors.none_key")),
    some=("pale", message("errors.some_key")),
    whole=("warm", message("errors.whole_key")),
)


def errors(record: Record) -> Figure | None:
    """Return both maps; None where the claimed kernel is not wrong, in one element, or its record is older."""
    claimed = evidence.find(record, AGREEMENT, record.claimed_name)
    worst: Any = claimed.evidence.get("worst") if claimed and claimed.outcome == "fail" else None
    rows, sizes = (grid(worst.get("map")), sizes_of(worst.get("shape"))) if isinstance(worst, dict) else (None, None)
    if claimed is None or rows is None or sizes is None or worst.get("elements") == 1:
        return None
    right = (
        Panel(named(record, one.target), told, [[0.0]])
        for one in of_passing(record, AGREEMENT)
        for told in _right(one, sizes)
    )
    panels = [Panel(claimed.target, _told(worst), rows), *[*right][:1]]
    about = {
        "shape": shape(sizes),
        "panels": joined(
            "semicolon", (message("form.variant_outcome", variant=one.name, outcome=one.told) for one in panels)
        ),
    }
    return figure(ERRORS, WRONG, panels, alt=message("errors.alt", **about), caption=message("errors.caption", **about))


def _right(finding: Finding, sizes: Shape) -> Iterator[str]:
    """Give how much is wrong of a right result at those sizes; nothing where it was not asked there."""
    there = objects(finding.evidence.get("shapes"))
    yield from (_told(one) for one in there if one.get("shape") == sizes and one.get("right") is True)


def _told(seen: dict[str, Any]) -> str:
    wrong, every = (seen.get(key) for key in ("elements_wrong", "elements"))
    if not isinstance(wrong, int) or not isinstance(every, int):
        return message("word.unknown")
    told = count_of(wrong, every, form="errors.wrong")
    return message("errors.of_output", told=told, output=str(seen["output"])) if "output" in seen else told
