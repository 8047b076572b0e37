"""The plots of a run's pages: items by verdict, attempts over time, items by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from matplotlib.ticker import MaxNLocator

from audit.apps.batch.state import ENDED, Attempt, ItemState, State
from audit.apps.batch.summary import StageCount
from audit.report.figures import canvas
from audit.report.figures.canvas import Palette
from audit.report.view import Figure

MOST_ROWS = 60
"""A timeline of more items would have rows nobody can read; it shows those that took longest."""


def of_run(items: Sequence[ItemState], counted: Sequence[StageCount]) -> tuple[Figure, ...]:
    """The plots that have anything to show."""
    if not items:
        return ()
    tried = [item for item in items if item.tried]
    timeline = (_timeline(tried),) if tried else ()
    return _tally(items), *timeline, *((_stages(counted),) if len(counted) > 1 else ())


def _tally(items: Sequence[ItemState]) -> Figure:
    found = Counter(item.verdict or item.state for item in items)
    ended = {item.verdict for item in items if item.state in ENDED}
    names = sorted(found, key=lambda name: (name not in ended, -found[name], name))
    with canvas.style():
        sheet = canvas.sheet(6.4, 0.9 + 0.36 * len(names))
        axis = sheet.subplots()
        colours = [canvas.BLUE if name in ended else canvas.ORANGE for name in names]
        bars = axis.barh(range(len(names)), [found[name] for name in names], color=colours, height=0.62)
        axis.bar_label(bars, padding=4)
        axis.set_yticks(range(len(names)), [canvas.label(name) for name in names])
        axis.invert_yaxis()
        axis.set_xlim(0, max(found.values()) * 1.12)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("items")
        axis.tick_params(axis="y", length=0)
        png = canvas.png(sheet)
    text = ", ".join(f"{name}: {found[name]}" for name in names)
    alt = f"Bars of items by verdict or state: {text}."
    return Figure("verdicts", alt, "Items by verdict, or by state; in orange those that no stage has decided.", png)


def _timeline(tried: Sequence[ItemState]) -> Figure:
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
    which = f"the {len(shown)} longest of {len(tried)} items" if len(shown) < len(tried) else "every item"
    caption = f"What ran when: {which}, a bar an attempt; in orange those that did not finish."
    alt = f"Timeline of attempts; the longest took {longest[0].tried[-1].seconds:.1f} seconds."
    return Figure("timeline", alt, caption, png)


def _stages(counted: Sequence[StageCount]) -> Figure:
    """One bar a stage: the items it was asked about, by how it left them."""
    text = "; ".join(f"{one.title}: {one.came:,} in, {one.left['settled']:,} settled" for one in counted)
    light, dark = (_bars(counted, palette) for palette in (canvas.LIGHT, canvas.DARK))
    caption = "Each bar is what came to a stage, by how it left: settled, left out, passed on, without an answer."
    return Figure("funnel", f"Bars of items by stage. {text}.", caption, light, dark)


def _bars(counted: Sequence[StageCount], palette: Palette) -> bytes:
    looks: dict[State, dict[str, Any]] = {
        "settled": {"color": palette.cool},
        "passed on": {"facecolor": "none", "edgecolor": palette.quiet},
        "no answer": {"facecolor": "none", "edgecolor": palette.quiet, "hatch": "////"},
        "left out": {"color": palette.quiet, "alpha": 0.35},
        "error": {"color": palette.warm},
    }
    with canvas.style(palette):
        sheet = canvas.sheet(8.4, 1.2 + 0.5 * len(counted))
        axis = sheet.subplots()
        for way, look in looks.items():
            widths = [one.left[way] for one in counted]
            before = [sum(one.left[other] for other in list(looks)[: list(looks).index(way)]) for one in counted]
            if any(widths):
                axis.barh(range(len(counted)), widths, left=before, height=0.62, label=way, **look)
        axis.set_yticks(range(len(counted)), [f"{one.title}: {one.came:,}" for one in counted])
        axis.invert_yaxis()
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_xlabel("items")
        axis.tick_params(axis="y", length=0)
        if any(one.came for one in counted):
            axis.legend(frameon=False, ncols=len(looks), loc="lower left", bbox_to_anchor=(0, 1))
        return canvas.png(sheet)


def _began(attempt: Attempt) -> float:
    return datetime.fromisoformat(attempt.started_utc).timestamp()
