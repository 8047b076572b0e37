"""A report within a number of characters: first go facts that stand elsewhere, then ends of lists and of texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from audit.model import sanitizer
from audit.report.messages import Message, message
from audit.report.view import Code, Link, Quoted, Report, Section, mapped

WHOLE = 10**9
TORN = re.compile(r"[\w.,+-]+$", re.ASCII)
"""The first part of a number or of a name."""


CUTS = (
    (WHOLE, sanitizer.LINE_CHARACTERS), (6, 600), (6, 400), (6, 300), (5, 240), (4, 220), (3, 200), (3, 160), (3, 120),
    (2, 100), (2, 80), (1, 60), (1, 40), (1, 20), (0, 10),
)  # fmt: skip
"""The most entries of a list and characters of a text, from the mildest cut on."""
EXPENDABLE = ("probe.sweep", "verdict.before", "verdict.confidence", "answer.task")
"""Facts of the card that the attached report has, in the order in which they are left out."""


def fitting(report: Report, most: int, made: Callable[[Report, int], str]) -> str:
    """Return the first text of at most `most` characters, from the mildest cut of the English report on; `made` makes
    that of a report whose own texts have at most so many characters."""
    text = ""
    mild = [(*CUTS[0], EXPENDABLE[:count]) for count in range(len(EXPENDABLE))]
    for entries, characters, without in (*mild, *((*cut, EXPENDABLE) for cut in CUTS)):
        sections = tuple(_section(section, entries, without) for section in report.sections)
        text = made(replace(report, sections=sections), characters)
        if len(text) <= most:
            break
    return text


def clipped(report: Report, characters: int) -> Report:
    """Return the report with every text cut to that many characters; a command stays whole."""

    def change(text: str) -> str:
        if isinstance(text, Code):
            return text
        kind = type(text) if isinstance(text, Link | Quoted) else str
        return text if len(text) <= characters else kind(beginning(sanitizer.line(text), characters))

    return report if characters >= sanitizer.LINE_CHARACTERS else mapped(report, change)


def beginning(text: str, characters: int) -> str:
    """Return the beginning of a text, without a part of a number or of a name at its end."""
    if len(text) <= characters:
        return text
    kept, following = text[: characters - 1], text[characters - 1]
    whole = TORN.sub("", kept) if TORN.match(following) else kept
    return (whole or kept).rstrip() + "…"


def _section(section: Section, most: int, without: tuple[str, ...]) -> Section:
    left = max(0, len(section.bullets) - most)
    more = (message("page.left_out", count=f"{left:,}"),) if left else ()
    card = section.card
    if card:
        facts = tuple(one for one in card.facts if not (isinstance(one[0], Message) and one[0].key in without))
        card = replace(card, facts=facts, missing=card.missing[:most])
    return replace(section, bullets=(*section.bullets[:most], *more), card=card)
