"""The funnel as bars: of what came to each stage, what it settled, left out, could not answer, and passed on."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from audit.apps.funnel.counts import StageCount
from audit.report.figures import canvas
from audit.report.figures.canvas import Palette
from audit.report.view import Figure

NAME = "funnel"


def draw(counted: Sequence[StageCount]) -> Figure:
    """One bar a stage."""
    told = "; ".join(f"{one.title}: {one.came:,} in, {one.settled:,} settled" for one in counted)
    return Figure(
        name=NAME,
        alt=f"Bars of items by stage. {told}.",
        caption="Each bar is what came to a stage: filled what it settled, hatched what it has no answer to, grey what "
        "it left out.",
        png=_drawn(counted, canvas.LIGHT),
        dark=_drawn(counted, canvas.DARK),
    )


def _drawn(counted: Sequence[StageCount], palette: Palette) -> bytes:
    with canvas.style(palette):
        sheet = canvas.sheet(8.4, 0.9 + 0.5 * len(counted))
        axis = sheet.subplots()
        for height, one in enumerate(counted):
            _bar(axis, height, one, palette)
        axis.set_yticks(range(len(counted)), [one.title for one in counted])
        axis.set_ylim(len(counted) - 0.45, -0.55)
        axis.set_xlim(0, 1.25 * max(1, *(one.came for one in counted)))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("items")
        axis.tick_params(axis="y", length=0)
        axis.spines["left"].set_visible(False)
        return canvas.png(sheet)


def _bar(axis: Axes, height: int, one: StageCount, palette: Palette) -> None:
    axis.barh(height, one.came, height=0.62, facecolor="none", edgecolor=palette.quiet, linewidth=1.2)
    axis.barh(height, one.settled, height=0.62, color=palette.cool)
    axis.barh(height, one.no_answer, left=one.settled, height=0.62, facecolor="none", edgecolor=palette.quiet,
              linewidth=0, hatch="////")  # fmt: skip
    axis.barh(height, one.left_out, left=one.came - one.left_out, height=0.62, color=palette.quiet, alpha=0.35)
    told = ((one.left_out, "left out"), (one.no_answer, "no answer"))
    idle = "".join(f", {number:,} {word}" for number, word in told if number)
    text = f"{one.settled:,} of {one.came:,} settled{idle}" if one.came else "nothing came here yet"
    axis.annotate(text, (one.came, height), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9.5)
