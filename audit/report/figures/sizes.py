"""Sizes around the claim as strips of cells, one strip a size: right, wrong, or without an answer."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from audit.model import Record
from audit.report import sizes
from audit.report.figures import canvas
from audit.report.messages import joined, message
from audit.report.quantities import shape
from audit.report.view import Figure

NAME = "sizes"
RIGHT, WRONG, OPEN = canvas.GREEN, "#C44E00", canvas.GREY
FACES = {"right": RIGHT, "wrong": WRONG, "launch_refused": WRONG}
LEGEND = ((RIGHT, "right"), (WRONG, "wrong, or the launch is refused"), (OPEN, "refused by an exception, or no answer"))
WIDEST = 14
"""Cells of a line; a longer strip continues in a further one."""
LETTERS = (7, 22)
"""The most letters of a value in a cell, and in one twice as wide."""


def draw(record: Record) -> Figure | None:
    """Return the strips; None without sizes, and where all of them are right."""
    base, strips = sizes.around(record), sizes.strips(record)
    if base is None or all(
        result == "right" for one in strips for *_, result in one.results if result in sizes.RESULTS
    ):
        return None
    lines = [line for one in strips for line in _lines(one)]
    with canvas.style():
        sheet = canvas.sheet(9.2, 0.9 + 0.42 * len(lines))
        axis = sheet.subplots()
        for height, (name, cells) in enumerate(lines):
            _strip(axis, height, cells)
            axis.text(-0.15, height + 0.5, canvas.label(name, limit=16), ha="right", va="center", fontsize=10)
        axis.set(xlim=(0, WIDEST), ylim=(len(lines), 0))
        axis.axis("off")
        handles = [Patch(color=colour, label=text) for colour, text in LEGEND]
        sheet.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=9.5)
        png = canvas.png(sheet)
    failed = ((one.name or message("sizes.all_at_once"), one.at("wrong")) for one in strips if one.at("wrong"))
    wrong = joined("semicolon", (message("sizes.wrong_at", size=name, values=values) for name, values in failed))
    alt = message("sizes.alt", shape=shape(base), wrong=wrong)
    return Figure(name=NAME, alt=alt, caption=message("sizes.caption", shape=shape(base)), png=png)


def _lines(strip: sizes.Strip) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the cells of a strip in lines; the first line has its name."""
    cells = [(canvas.label(value, limit=LETTERS[1]), result) for _, value, result in strip.results
             if result in sizes.RESULTS]  # fmt: skip
    lines: list[list[tuple[str, str]]] = [[]]
    for cell in cells:
        if sum(map(_width, (*lines[-1], cell))) > WIDEST:
            lines.append([])
        lines[-1].append(cell)
    return [("" if place else strip.name or "all at once", line) for place, line in enumerate(lines)]


def _width(cell: tuple[str, str]) -> int:
    return 1 if len(cell[0]) <= LETTERS[0] else 2


def _strip(axis: Axes, height: int, cells: list[tuple[str, str]]) -> None:
    left = 0
    for cell in cells:
        (text, result), width = cell, _width(cell)
        box = Rectangle((left + 0.03, height + 0.08), width - 0.06, 0.84, facecolor=FACES.get(result, OPEN))
        axis.add_patch(box)
        size = 9 if width == 1 else 7
        axis.text(left + width / 2, height + 0.5, text, ha="center", va="center", color="white", weight="bold",
                  fontsize=size)  # fmt: skip
        left += width
