"""A report within a number of characters: every section counts the entries that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from audit.model import sanitizer
from audit.report.messages import message
from audit.report.view import Block, Code, Link, Quoted, Report, Section, mapped

WHOLE = 10**9
TORN = re.compile(r"[\w.,+-]+$", re.ASCII)
"""The first part of a number or of a name."""


@dataclass(frozen=True)
class Cut:
    """The most items of a list, characters of a text, and sections."""

    items: int
    characters: int = sanitizer.LINE_CHARACTERS
    sections: int = WHOLE


CUTS = (
    Cut(WHOLE), Cut(200), Cut(80), Cut(40), Cut(24, 600), Cut(16, 500), Cut(12, 400), Cut(9, 400), Cut(7, 320),
    Cut(6, 280), Cut(5, 240), Cut(4, 220), Cut(3, 200), Cut(3, 140), Cut(2, 120), Cut(1, 100), Cut(1, 60),
    Cut(1, 60, 6), Cut(1, 40, 3), Cut(0, 30, 2),
)  # fmt: skip
"""From the mildest on."""


def fitting(report: Report, most: int, made: Callable[[Report, int], str]) -> str:
    """Return the first text of at most `most` characters, from the mildest cut on.

    Args:
        report: the whole report, in English.
        most: the limit.
        made: makes the text of a report whose own texts have at most so many characters.
    """
    text = ""
    for cut in CUTS:
        text = made(shortened(report, cut), cut.characters)
        if len(text) <= most:
            break
    return text


def clipped(report: Report, characters: int) -> Report:
    """Return the report with every text cut to that many characters."""

    def change(text: str) -> str:
        if isinstance(text, Block):
            return Block(sanitizer.block(text, limit=characters))
        kind = type(text) if isinstance(text, Code | Link | Quoted) else str
        return text if len(text) <= characters else kind(beginning(sanitizer.line(text), characters))

    return report if characters >= sanitizer.LINE_CHARACTERS else mapped(report, change)


def beginning(text: str, characters: int) -> str:
    """Return the beginning of a text, without a part of a number or of a name at its end."""
    if len(text) <= characters:
        return text
    kept, following = text[: characters - 1], text[characters - 1]
    whole = TORN.sub("", kept) if TORN.match(following) else kept
    return (whole or kept).rstrip() + "…"


def shortened(report: Report, cut: Cut) -> Report:
    """Return the report after a cut."""
    kept = tuple(_section(section, cut.items) for section in report.sections[: cut.sections])
    return replace(report, sections=kept)


def _section(section: Section, items: int) -> Section:
    card, most = section.card, slice(items)
    reasons = (card.reasons, card.missing) if card else ()
    whole = (*(table.rows for table in section.tables), section.bullets, section.points, section.logs, *reasons)
    left = sum(max(0, len(one) - items) for one in whole)
    return replace(
        section,
        tables=tuple(replace(table, rows=table.rows[most]) for table in section.tables),
        bullets=section.bullets[most],
        points=tuple(replace(point, facts=point.facts[: max(items, 1)]) for point in section.points[most]),
        logs=section.logs[most],
        card=card and replace(card, reasons=card.reasons[most], missing=card.missing[most]),
        left=(message("page.left_out", count=f"{left:,}"),) if left else (),
    )
