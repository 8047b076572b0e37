"""The part of the output that the claimed kernel writes, beside that of a passing variant on the same problem."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure as Sheet

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.messages import joined, message
from audit.report.quantities import shape
from audit.report.tables import coverage as in_words
from audit.report.view import Figure

NAME = "coverage"
COLOURS = LinearSegmentedColormap.from_list("written", ["#F6E3BF", "#56A0CC", "#004C7F"])


def draw(record: Record) -> Figure | None:
    """Return both maps; None without one of the claimed kernel, or where its whole output is written."""
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
    written = ((one.target, in_words(record, one.target)) for one in panels)
    sizes = evidence.size(panels[0])
    about = {
        "shape": shape(sizes) if sizes else message("coverage.one_shape"),
        "panels": joined(
            "semicolon", (message("coverage.written", variant=name, coverage=text) for name, text in written)
        ),
    }
    alt, caption = message("coverage.alt", **about), message("coverage.caption", **about)
    return Figure(name=NAME, alt=alt, caption=caption, png=png)


def _panels(record: Record) -> list[Finding]:
    claimed = evidence.find(record, NAME, evidence.claimed_name(record))
    if claimed is None or grid(claimed) is None or claimed.outcome == "pass":
        return []
    rungs = [rung for rung in record.ladder if rung.state == "passed" and rung.role != "claimed"]
    passing = [rung.variant for rung in sorted(rungs, key=lambda rung: rung.role != "repair")]
    others = [evidence.find(record, NAME, variant) for variant in passing]
    same = [one for one in others if one and grid(one) and one.evidence.get("shape") == claimed.evidence.get("shape")]
    return [claimed, *same[:1]]


def grid(finding: Finding) -> list[list[float]] | None:
    """Return the map of a finding; None where it is absent or no rectangle of shares from 0 to 1."""
    rows: Any = finding.evidence.get("map")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(_is_share(cell) for row in rows for cell in row):
        return None
    return rows


def _is_share(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and 0 <= cell <= 1


def panel(axis: Axes, finding: Finding, words: str) -> Any:
    """Draw the map of one finding into an axis; return the image for the colour bar."""
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
    """Add the colour bar of maps that `panel` drew."""
    scale = sheet.colorbar(image, ax=axes, ticks=[0, 0.1, 0.25, 0.5, 1], shrink=0.95, pad=0.02)
    scale.set_ticklabels(["0 %", "10 %", "25 %", "50 %", "100 %"])
    scale.set_label("share of elements written")
