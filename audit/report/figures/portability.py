"""The ratio claimed for each GPU beside the one measured there, on a log axis, or NOT MEASURED."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from audit.judge import BASELINE
from audit.measure import compared
from audit.model import Record
from audit.report.compare import fastest_passing, places, standing
from audit.report.figures import canvas
from audit.report.figures.canvas import Palette
from audit.report.quantities import NOT_MEASURED, ratio
from audit.report.view import Figure

Place = tuple[str, float | None, float | None, str]
"""A GPU, its claimed ratio, the measured one of the fastest passing fp32 variant, and the claimed kernel's standing."""


def draw(records: Sequence[Record]) -> Figure | None:
    """Return a line for each place; None where no ratio is claimed."""
    found = [_place(gpu, own, records) for gpu, own in places(records)]
    if not any(claimed for _, claimed, _, _ in found):
        return None
    lines = "; ".join(
        f"{gpu}: claimed {ratio(claimed) if claimed else 'nothing'}, "
        f"measured {ratio(measured) if measured else NOT_MEASURED}, claimed kernel {word}"
        for gpu, claimed, measured, word in found
    )
    return Figure(
        name="portability",
        alt=f"Claimed and measured ratios per GPU on a log axis. {lines}.",
        caption="Claimed ratio of the claimed kernel, and measured ratio of the fastest passing fp32 variant against "
        "eager fp32; beside them, how the claimed kernel came out.",
        png=_drawn(found, canvas.LIGHT),
        dark=_drawn(found, canvas.DARK),
    )


def _place(gpu: str, own: Record | None, records: Sequence[Record]) -> Place:
    published = next((one.ratio for one in records[0].claim.statement.speedup if one.gpu == gpu), None)
    name = fastest_passing(own)
    found = None if own is None or name is None else compared(own.measurements, name, BASELINE)
    word = standing(own, records) + (", ratio inconclusive" if found and found.doubt else "")
    return gpu, published, None if found is None else found.ratio.value, word


def _drawn(found: list[Place], palette: Palette) -> bytes:
    with canvas.style(palette):
        sheet = canvas.sheet(8.4, 1.3 + 0.56 * len(found))
        axis = sheet.subplots()
        for height, place in enumerate(found):
            _line(axis, height, place, palette)
        axis.axvline(1, color=palette.quiet, linewidth=1, zorder=0)
        axis.set_yticks(range(len(found)), [canvas.label(gpu, limit=26) for gpu, *_ in found])
        axis.set_ylim(len(found) - 0.45, -0.55)
        values = [value for _, claimed, measured, _ in found for value in (claimed, measured) if value]
        canvas.log_axis(axis, min(0.7, *values), max(2.0, *values) * 20, "times faster than the baseline, log scale",
                        unit="x")  # fmt: skip
        handles, names = axis.get_legend_handles_labels()
        once = dict(zip(names, handles, strict=True))
        sheet.legend(once.values(), once.keys(), loc="outside upper left", ncols=2, frameon=False, fontsize=9.5)
        return canvas.png(sheet)


def _line(axis: Axes, height: int, place: Place, palette: Palette) -> None:
    _, claimed, measured, word = place
    axis.axhline(height, color=palette.quiet, linewidth=0.5, alpha=0.5, zorder=0)
    if claimed:
        axis.scatter([claimed], [height], s=60, facecolor="none", edgecolor=palette.warm, linewidth=1.8, zorder=3,
                     label="claimed")  # fmt: skip
    if measured:
        axis.scatter(
            [measured], [height], s=60, color=palette.cool, zorder=3, label="measured, fastest passing fp32 variant"
        )
    text = canvas.label(word, limit=24) + ("" if measured else f"\n{NOT_MEASURED}")
    note = axis.annotate(text, (max(claimed or 1, measured or 1), height), xytext=(12, 0), textcoords="offset points",
                         va="center", fontsize=9, linespacing=1.1,
                         bbox={"facecolor": palette.page, "edgecolor": "none", "pad": 1})  # fmt: skip
    note.set_in_layout(False)  # else the axis shrinks to make room for the text
