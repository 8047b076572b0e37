"""Draw the archive's figures, as PNG and SVG: verdicts by family and by task, and the causes of failures."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import matplotlib as mpl
from committed import FOLDER, VERDICTS, Row, causes, family, verdicts
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from audit.apps.selftest.score import interval
from audit.report.figures import raster

PLACE = FOLDER / "figures"
WIDTH = 5.4
"""Inches, so that the letters can be read where a page is 390 pixels wide."""
EDGE = 1.0
"""Height of the legend and the axis, inches."""
SHORT = (
    ("Transposed", "Tr."), ("transposed", "tr."), ("convolution", "conv"), ("Depthwise", "Dw."), ("Strided", "Str."),
    ("padded", "pad."), ("dilated", "dil."), ("Cumulative", "Cum."), ("with unequal sides of ", "of unequal "),
)  # fmt: skip
"""Words of the tasks' names that stand shorter beside a bar; `by_task.csv` has the names in full."""
COLOURS = 48
LARGEST = 16
"""Classes of causes in the figure; the table has all of them."""


class Look(NamedTuple):
    """A verdict's fill, its hatch for a reader without colours, and the name in the legend."""

    fill: str
    hatch: str
    name: str


LOOKS: Mapping[str, Look] = {
    "wrong": Look("#8F3300", "", "wrong"),
    "undefined": Look(raster.ORANGE, "////", "undefined behaviour"),
    "aliased result": Look("#CC79A7", "...", "a later call overwrites the result"),
    "reduced precision": Look("#CC79A7", "", "fewer bits than claimed"),
    "mistimed": Look("#CC79A7", "xxx", "the work escapes the timer"),
    "overstated": Look("#56B4E9", "...", "a library does the work, or none"),
    "vacuous": Look("white", "xxx", "the task cannot tell"),
    "cannot be built": Look(raster.GREY, "", "cannot be built"),
    "no answer": Look("white", "||", "no answer"),
    "no defect found": Look("#DCE9F2", "", "no defect found"),
}
"""From the left of a bar to its right."""
assert set(LOOKS) == set(VERDICTS)


def draw(rows: Sequence[Row], tasks: Sequence[Row]) -> None:
    """Write every figure beside the tables."""
    PLACE.mkdir(exist_ok=True)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(family(int(row["task"])), []).append(row)
    families = [(name, verdicts(own)) for name, own in groups.items()]
    families.sort(key=lambda one: _sound(one[1]))
    _save("by_family", _bars(families, characters=20), svg=False)
    lines = [(f"{row['task']}  {_short(row['name'])}", {name: int(row[name]) for name in VERDICTS}) for row in tasks]
    figure = _bars(lines, characters=31, size=8.5, row=0.165)
    figure.axes[0].tick_params(axis="x", top=True, labeltop=True)
    _save("by_task", figure, svg=False)
    _save("causes", _causes(rows))


def _short(name: str) -> str:
    for long, short in SHORT:
        name = name.replace(long, short)
    return name


def _sound(counts: Mapping[str, int]) -> float:
    return counts["no defect found"] / sum(counts.values())


def _bars(lines: Sequence[tuple[str, Mapping[str, int]]], *, characters: int, size: float = 9.5,
          row: float = 0.27) -> Figure:  # fmt: skip
    """Return one stacked bar a line, in shares, with the number of kernels at its end."""
    figure = raster.sheet(WIDTH, EDGE + 0.3 + row * len(lines))
    axis = figure.subplots()
    for height, (_, counts) in enumerate(lines):
        left, of = 0.0, sum(counts.values())
        for verdict, look in LOOKS.items():
            part = 100 * counts.get(verdict, 0) / of
            if part:
                axis.barh(height, part, left=left, height=0.82, color=look.fill, hatch=look.hatch, edgecolor=raster.INK,
                          linewidth=0.35, label=look.name)  # fmt: skip
            left += part
        axis.text(101, height, f"{of:,}", va="center", fontsize=size)
    _labelled(axis, [raster.label(name, limit=characters) for name, _ in lines], size)
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of the kernels asked, and how many")
    _legend(figure, axis)
    return figure


def _labelled(axis: Axes, names: Sequence[str], size: float) -> None:
    axis.set_yticks(range(len(names)), names, fontsize=size)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def _legend(figure: Figure, axis: Axes) -> None:
    handles, names = axis.get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    order = [look.name for look in LOOKS.values() if look.name in once]
    figure.legend([once[name] for name in order], order, loc="outside upper left", ncols=2, frameon=False, fontsize=9,
                  handlelength=1.6, columnspacing=1.0)  # fmt: skip


def _causes(rows: Sequence[Row]) -> Figure:
    """Return a bar for each of the largest classes of wrong and undefined kernels, with the interval of its share."""
    found = [(verdict, name, len(own)) for verdict, name, own in causes(rows) if verdict in {"wrong", "undefined"}]
    found = sorted(found, key=lambda one: -one[2])[:LARGEST]
    figure = raster.sheet(WIDTH, EDGE + 0.4 * len(found))
    axis = figure.subplots()
    for height, (verdict, name, number) in enumerate(found):
        look, (low, high) = LOOKS[verdict], interval(number, len(rows))
        axis.barh(height + 0.18, 100 * number / len(rows), height=0.42, color=look.fill, hatch=look.hatch,
                  edgecolor=raster.INK, linewidth=0.35, label=look.name)  # fmt: skip
        for colour, width in (("white", 3.6), (raster.INK, 1.4)):
            axis.plot([100 * low, 100 * high], [height + 0.18] * 2, color=colour, linewidth=width)
        axis.text(0, height - 0.25, f"{name}: {number:,}", va="center", fontsize=9.5)
    axis.set_yticks([])
    axis.set_ylim(len(found) - 0.4, -0.6)
    axis.spines["left"].set_visible(False)
    axis.set_xlim(0, None)
    axis.set_xlabel("% of all kernels asked; the line is the 95 % interval")
    _legend(figure, axis)
    return figure


def _save(name: str, figure: Figure, *, svg: bool = True) -> None:
    """Write the figure; the PNG with few colours, since it is written again with every screening."""
    image = Image.open(io.BytesIO(raster.encoded(figure))).convert("RGB").quantize(COLOURS)
    image.save(PLACE / f"{name}.png", optimize=True)
    if svg:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        lines = buffer.getvalue().decode().splitlines()
        (PLACE / f"{name}.svg").write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")


def drawn(rows: Sequence[Row], tasks: Sequence[Row]) -> Iterable[str]:
    """Draw in the house's style, and return the names of the files."""
    with raster.style():
        mpl.rcParams.update({"svg.hashsalt": "archive", "svg.fonttype": "none", "hatch.linewidth": 0.5})
        draw(rows, tasks)
    return sorted(path.name for path in PLACE.iterdir())
