"""Sizes around the claim as strips of cells, one strip a size: right, wrong, or without an answer."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from audit.model import Record
from audit.report import sizes
from audit.report.drawing import LATIN, SMALL, WIDE, Box, Paint, Part, Words, legend
from audit.report.figures import raster
from audit.report.messages import joined, message, shape
from audit.report.view import Figure

NAME = "sizes"
FACES: dict[str, tuple[Paint, Paint]] = {
    "right": ("cool", "on-cool"), "wrong": ("warm", "on-warm"), "launch_refused": ("warm", "on-warm")
}  # fmt: skip
OPEN: tuple[Paint, Paint] = ("quiet", "text")
KEYS: tuple[tuple[Paint, str], ...] = (
    ("cool", "sizes.right_key"), ("warm", "sizes.wrong_key"), ("quiet", "sizes.open_key")
)  # fmt: skip
LEFT, CELL, ROW = 80, 40, 34
WIDEST = (WIDE - LEFT) // CELL
"""Cells of a line; a longer strip continues in a further one."""
LETTERS = 44
Cell = tuple[str, str]


def draw(record: Record) -> Figure | None:
    """Return the strips; None without sizes, and where all of those that the task has are right."""
    base, strips = sizes.around(record), sizes.strips(record)
    there = {result for one in strips for *_, result in one.results if result in sizes.RESULTS}
    if base is None or there <= {"right", "not_taken"}:
        return None
    lines = [line for one in strips for line in _lines(one)]
    paints = {FACES.get(result, OPEN)[0] for result in there}
    keys = tuple((paint, message(key), False) for paint, key in KEYS if paint in paints)
    parts, head = [*legend(keys)], 18 * len(keys) + 8
    for place, (name, cells) in enumerate(lines):
        parts += _strip(name, cells, head + ROW * place)
    failed = ((one.name or message("sizes.all_at_once"), one.at("wrong")) for one in strips if one.at("wrong"))
    wrong = joined("semicolon", (message("sizes.wrong_at", size=name, values=values) for name, values in failed))
    alt = message("sizes.alt", shape=shape(base), wrong=wrong)
    caption = message("sizes.caption", shape=shape(base))
    return raster.figure(NAME, head + ROW * len(lines), parts, alt=alt, caption=caption)


def _lines(strip: sizes.Strip) -> Iterator[tuple[str, list[Cell]]]:
    """Give the cells of a strip in lines; the first line has its name."""
    name, line = strip.name or message("sizes.all_at_once"), list[Cell]()
    for _, value, result in strip.results:
        if result in sizes.RESULTS:
            cell = raster.label(value, limit=LETTERS), result
            if sum(map(_cells, (*line, cell))) > WIDEST:
                yield name, line
                name, line = "", []
            line.append(cell)
    yield name, line


def _cells(cell: Cell) -> int:
    return min(WIDEST, ceil((len(cell[0]) * SMALL * LATIN + 8) / CELL))


def _strip(name: str, cells: list[Cell], top: float) -> Iterator[Part]:
    middle, left = top + ROW / 2, float(LEFT)
    yield Words(LEFT - 8, middle, name, anchor="end", wide=LEFT - 8, most=2)
    for cell in cells:
        wide, (face, ink) = _cells(cell) * CELL, FACES.get(cell[1], OPEN)
        yield Box(left + 1.5, top + 2, wide - 3, ROW - 4, face)
        yield Words(left + wide / 2, middle, cell[0], ink, SMALL, "middle", wide=wide - 4)
        left += wide
