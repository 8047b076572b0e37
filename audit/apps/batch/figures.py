"""The two plots of a batch's summary: how many of each verdict, and what ran when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from audit.apps.batch.states import SEVERITY, Attempt, Entry

MOST_ROWS = 60
"""A timeline of more claims would have rows nobody can read; it shows those that took longest."""


@dataclass(frozen=True)
class Picture:
    """One plot with the text for those who do not see it."""

    png: bytes
    alt: str
    caption: str


def draw(entries: Sequence[Entry]) -> list[Picture]:
    """The plots there is something for."""
    if not entries:
        return []
    return [_tally(entries), *([_timeline(entries)] if any(entry.attempts for entry in entries) else [])]


def _tally(entries: Sequence[Entry]) -> Picture:
    from matplotlib.ticker import MaxNLocator

    from audit.report.figures import canvas

    found = Counter(entry.verdict if entry.state == "finished" else entry.state for entry in entries)
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
    told = ", ".join(f"{name}: {found[name]}" for name in names)
    return Picture(png, f"Bars of claims by verdict or state: {told}.", "Verdicts; in orange what did not finish.")


def _timeline(entries: Sequence[Entry]) -> Picture:
    from audit.report.figures import canvas

    tried = [entry for entry in entries if entry.attempts]
    longest = sorted(tried, key=lambda entry: -entry.seconds)[:MOST_ROWS]
    shown = sorted(longest, key=lambda entry: _began(entry.attempts[0]))
    origin = min(_began(entry.attempts[0]) for entry in shown)
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.1 + 0.2 * len(shown))
        axis = sheet.subplots()
        for row, entry in enumerate(shown):
            for attempt in entry.attempts:
                colour = canvas.BLUE if attempt.state == "finished" else canvas.ORANGE
                axis.barh(row, attempt.end.seconds, left=_began(attempt) - origin, color=colour, height=0.7)
        axis.set_yticks(range(len(shown)), [canvas.label(entry.name) for entry in shown], fontsize=7.5)
        axis.set_ylim(len(shown) - 0.4, -0.6)
        axis.set_xlabel("seconds since the first began")
        axis.tick_params(axis="y", length=0)
        png = canvas.png(sheet)
    which = f"the {len(shown)} longest of {len(tried)} claims" if len(shown) < len(tried) else "every claim"
    caption = f"What ran when: {which}, a bar an attempt; in orange those that did not finish."
    return Picture(png, f"Timeline of attempts; the longest took {longest[0].seconds:.1f} seconds.", caption)


def _began(attempt: Attempt) -> float:
    return datetime.fromisoformat(attempt.started_utc).timestamp()
