"""The plots of a run's pages: claims by verdict, attempts over time, items by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from audit.apps.batch.screened import StageCount
from audit.apps.batch.state import SEVERITY, Attempt, ItemState
from audit.report.figures import canvas
from audit.report.figures.canvas import Palette
from audit.report.view import Figure

MOST_ROWS = 60
"""A timeline of more claims would have rows nobody can read; it shows those that took longest."""


def of_batch(items: Sequence[ItemState]) -> list[Figure]:
    """The plots of a batch's summary that have anything to show."""
    if not items:
        return []
    return [_tally(items), *([_timeline(items)] if any(item.tried for item in items) else [])]


def of_stages(counted: Sequence[StageCount]) -> Figure:
    """One bar a stage: the items that came to it, and which of them it settled, left out and could not answer."""
    text = "; ".join(f"{one.title}: {one.came:,} in, {one.settled:,} settled" for one in counted)
    return Figure(
        name="funnel",
        alt=f"Bars of items by stage. {text}.",
        caption="Each bar is what came to a stage: filled what it settled, hatched what it has no answer to, grey what "
        "it left out.",
        png=_stages(counted, canvas.LIGHT),
        dark=_stages(counted, canvas.DARK),
    )


def _tally(items: Sequence[ItemState]) -> Figure:
    found = Counter(item.verdict if item.state == "finished" else item.state for item in items)
    names = sorted(found, key=lambda name: (name in SEVERITY, -found[name], str(name)))
    with canvas.style():
        sheet = canvas.sheet(6.4, 0.9 + 0.36 * len(names))
        axis = sheet.subplots()
        colours = [canvas.ORANGE if name in SEVERITY else canvas.BLUE for name in names]
        bars = axis.barh(range(len(names)), [found[name] for name in names], color=colours, height=0.62)
        axis.bar_label(bars, padding=4)
        axis.set_yticks(range(len(names)), [str(name) for name in names])
        axis.invert_yaxis()
        axis.set_xlim(0, max(found.values()) * 1.12)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("claims")
        axis.tick_params(axis="y", length=0)
        png = canvas.png(sheet)
    text = ", ".join(f"{name}: {found[name]}" for name in names)
    alt = f"Bars of claims by verdict or state: {text}."
    return Figure("verdicts", alt, "Verdicts; in orange what did not finish.", png)


def _timeline(items: Sequence[ItemState]) -> Figure:
    tried = [item for item in items if item.tried]
    longest = sorted(tried, key=lambda item: -item.tried[-1].seconds)[:MOST_ROWS]
    shown = sorted(longest, key=lambda item: _began(item.tried[0]))
    origin = min(_began(item.tried[0]) for item in shown)
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.1 + 0.2 * len(shown))
        axis = sheet.subplots()
        for row, item in enumerate(shown):
            for attempt in item.tried:
                colour = canvas.BLUE if attempt.outcome == "finished" else canvas.ORANGE
                axis.barh(row, attempt.seconds, left=_began(attempt) - origin, color=colour, height=0.7)
        axis.set_yticks(range(len(shown)), [canvas.label(item.item) for item in shown], fontsize=7.5)
        axis.set_ylim(len(shown) - 0.4, -0.6)
        axis.set_xlabel("seconds since the first began")
        axis.tick_params(axis="y", length=0)
        png = canvas.png(sheet)
    which = f"the {len(shown)} longest of {len(tried)} claims" if len(shown) < len(tried) else "every claim"
    caption = f"What ran when: {which}, a bar an attempt; in orange those that did not finish."
    alt = f"Timeline of attempts; the longest took {longest[0].tried[-1].seconds:.1f} seconds."
    return Figure("timeline", alt, caption, png)


def _stages(counted: Sequence[StageCount], palette: Palette) -> bytes:
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
    idle_items = ((one.left_out, "left out"), (one.no_answer, "no answer"))
    idle = "".join(f", {number:,} {word}" for number, word in idle_items if number)
    text = f"{one.settled:,} of {one.came:,} settled{idle}" if one.came else "nothing came here yet"
    axis.annotate(text, (one.came, height), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9.5)


def _began(attempt: Attempt) -> float:
    return datetime.fromisoformat(attempt.started_utc).timestamp()
