"""The part of the output that the claimed kernel writes, beside that of a passing variant on the same problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from audit.judge.causes import shape_of
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.drawing import SMALL, WIDE, Box, Drawing, Paint, Part, Words
from audit.report.figures import raster
from audit.report.messages import joined, message
from audit.report.quantities import number, shape
from audit.report.tables import coverage as in_words
from audit.report.view import Figure

NAME = "coverage"
SIDE, GAP = 208, 24
HEAD, FOOT = 56, 34
KEYS: tuple[tuple[Paint, str], ...] = (
    ("pale", "coverage.none_key"), ("mid", "coverage.some_key"), ("cool", "coverage.whole_key")
)  # fmt: skip
MOST_BOXES = 500
"""Of a drawing; a map of more pieces is smaller as a PNG."""


def draw(record: Record) -> Figure | None:
    """Return both maps; None without one of the claimed kernel, or where its whole output is written."""
    panels = _panels(record)
    if not panels:
        return None
    written = [(one.target, in_words(record, one.target)) for one in panels]
    sizes = shape_of(panels[0])
    about = {
        "shape": shape(sizes) if sizes else message("coverage.one_shape"),
        "panels": joined(
            "semicolon", (message("coverage.written", variant=name, coverage=text) for name, text in written)
        ),
    }
    return drawn(list(zip(panels, [text for _, text in written], strict=True)),
                 alt=message("coverage.alt", **about), caption=message("coverage.caption", **about))  # fmt: skip


def drawn(panels: Sequence[tuple[Finding, str]], *, alt: str, caption: str) -> Figure:
    """Return the maps of findings side by side, each under the words for how much is written."""
    parts = [*_keys()]
    for place, (finding, words) in enumerate(panels):
        parts += _panel(finding, words, place * (SIDE + GAP), 24.0)
    drawing = Drawing(24 + HEAD + SIDE + FOOT, tuple(parts))
    fits = len(parts) <= MOST_BOXES
    return Figure(name=NAME, alt=alt, caption=caption, png=raster.png(drawing), drawing=drawing if fits else None)


def grid(finding: Finding) -> list[list[float]] | None:
    """Return the map of a finding; None where it is absent or no rectangle of shares from 0 to 1."""
    rows: Any = finding.evidence.get("map")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(_is_share(cell) for row in rows for cell in row):
        return None
    return rows


def _panels(record: Record) -> list[Finding]:
    claimed = evidence.find(record, NAME, record.claimed_name)
    if claimed is None or grid(claimed) is None or claimed.outcome == "pass":
        return []
    rungs = [rung for rung in record.ladder if rung.state == "passed" and rung.role != "claimed"]
    passing = [rung.variant for rung in sorted(rungs, key=lambda rung: rung.role != "repair")]
    others = [evidence.find(record, NAME, variant) for variant in passing]
    same = [one for one in others if one and grid(one) and one.evidence.get("shape") == claimed.evidence.get("shape")]
    return [claimed, *same[:1]]


def _is_share(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and 0 <= cell <= 1


def _keys() -> Iterator[Part]:
    """Give the meaning of the three colours in one line."""
    for place, (paint, key) in enumerate(KEYS):
        left = place * WIDE / len(KEYS)
        yield Box(left, 3, 16, 12, paint, "soft")
        yield Words(left + 22, 9, message(key), size=SMALL, wide=WIDE / len(KEYS) - 24)


def _panel(finding: Finding, words: str, left: float, top: float) -> Iterator[Part]:
    """Give the name, how much is written, the map, and how many rows and columns it stands for."""
    yield Words(left, top + 14, finding.target, wide=SIDE, bold=True)
    yield Words(left, top + 37, message("coverage.only_written", coverage=words), size=SMALL, wide=SIDE, most=2)
    yield from _map(grid(finding) or [[0.0]], left, top + HEAD)
    rows, elements = evidence.real(finding, "rows"), evidence.real(finding, "elements")
    if rows and elements:
        sides = {"rows": number(int(rows)), "columns": number(int(elements // rows))}
        yield Words(left, top + HEAD + SIDE + 14, message("coverage.sides", **sides), "soft", SMALL, wide=SIDE)


def _map(rows: list[list[float]], left: float, top: float) -> Iterator[Part]:
    """Give the cells, alike neighbours as one box, on a ground where none is written."""
    yield Box(left, top, SIDE, SIDE, "pale")
    wide, tall = SIDE / len(rows[0]), SIDE / len(rows)
    painted = ([_paint(cell) for cell in row] for row in rows)
    down = 0
    for cells, alike in groupby(painted):
        count, across = len(list(alike)), 0
        for paint, run in groupby(cells):
            length = len(list(run))
            if paint != "pale":
                yield Box(left + across * wide, top + down * tall, length * wide, count * tall, paint)
            across += length
        down += count
    yield Box(left, top, SIDE, SIDE, "none", "soft")


def _paint(share: float) -> Paint:
    return "pale" if share == 0 else "cool" if share == 1 else "mid"
