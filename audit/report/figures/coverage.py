"""Which part of the output the claimed kernel writes, beside a cleared variant on the same problem."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure as Sheet

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.quantities import shape
from audit.report.said import listed, say
from audit.report.summary import coverage as in_words
from audit.report.view import Figure

NAME = "coverage"
COLOURS = LinearSegmentedColormap.from_list("written", ["#F6E3BF", "#56A0CC", "#004C7F"])


def draw(record: Record) -> Figure | None:
    """One map for each of the two; None without a map of the claimed kernel, or where all of it is written."""
    panels = _panels(record)
    if not panels:
        return None
    with canvas.style():
        sheet = canvas.sheet(2.9 * len(panels) + 0.9, 3.3)
        axes = sheet.subplots(1, len(panels), squeeze=False)[0]
        for axis, finding in zip(axes, panels, strict=True):
            image = panel(axis, finding, in_words(record, finding.target))
        bar(sheet, image, list(axes))
        png = canvas.png(sheet)
    text = "{variant}: {coverage} written"
    told = listed("; ", (say(text, variant=one.target, coverage=in_words(record, one.target)) for one in panels))
    sizes = evidence.size(panels[0])
    where = shape(sizes) if sizes else say("one shape")
    alt = say(
        "Map of the output at {shape}, dark where elements are written and pale where none is. {panels}.",
        shape=where,
        panels=told,
    )
    return Figure(name=NAME, alt=alt, caption=say("Write coverage at {shape}. {panels}.", shape=where, panels=told),
                  png=png)  # fmt: skip


def _panels(record: Record) -> list[Finding]:
    claimed = evidence.find(record, NAME, evidence.claimed_name(record))
    if claimed is None or grid(claimed) is None or claimed.outcome == "pass":
        return []
    rungs = [rung for rung in record.ladder if rung.state == "cleared" and rung.role != "claimed"]
    cleared = [rung.variant for rung in sorted(rungs, key=lambda rung: rung.role != "repair")]
    others = [evidence.find(record, NAME, variant) for variant in cleared]
    same = [one for one in others if one and grid(one) and one.evidence.get("shape") == claimed.evidence.get("shape")]
    return [claimed, *same[:1]]


def grid(finding: Finding) -> list[list[float]] | None:
    """The map of a finding; None where it is absent or not a rectangle of shares from 0 to 1."""
    rows: Any = finding.evidence.get("map")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(_is_share(cell) for row in rows for cell in row):
        return None
    return rows


def _is_share(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and 0 <= cell <= 1


def panel(axis: Axes, finding: Finding, words: str) -> Any:
    """Draws the map of one finding into that axis; returns the image a colour bar belongs to."""
    rows, columns = evidence.real(finding, "rows"), evidence.real(finding, "elements")
    height = rows or 1
    width = (columns or height) / height
    # The root brings out a cell in which one row of several is written.
    image = axis.imshow(grid(finding) or [[0.0]], cmap=COLOURS, norm=PowerNorm(0.5, 0, 1), interpolation="nearest",
                        extent=(0, width, height, 0), aspect="auto")  # fmt: skip
    axis.set_title(f"{canvas.label(finding.target, limit=30)}\n{words} written", fontsize=10.5)
    axis.set_xlabel("column (element)")
    axis.set_ylabel("row of the output (element)")
    for spine in axis.spines.values():
        spine.set_visible(True)
    return image


def bar(sheet: Sheet, image: Any, axes: list[Axes]) -> None:
    """The colour bar of maps that `panel` drew."""
    scale = sheet.colorbar(image, ax=axes, ticks=[0, 0.1, 0.25, 0.5, 1], shrink=0.95, pad=0.02)
    scale.set_ticklabels(["0 %", "10 %", "25 %", "50 %", "100 %"])
    scale.set_label("share of elements written")
