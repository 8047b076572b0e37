"""What a report is made of before it has a format: frozen, plain text only, escaped by the renderers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

from audit.report.said import say

Tone = Literal["holds", "fails", "open"]
MARKS = frozenset({("Card", "tone"), ("Section", "slug"), ("Figure", "name"), ("Report", "language")})
"""Fields that programs read and nobody is shown."""
Viewed = TypeVar("Viewed")


class Code(str):
    """One line to be shown in a fixed-width face: a name, a file, a command."""

    __slots__ = ()


class Block(str):
    """Several lines to be shown as they are, such as a compiler's log."""

    __slots__ = ()


class Quoted(str):
    """Words of others in a report of another language, with the marks that say so."""

    __slots__ = ()


class Link(str):
    """An address; a renderer links it only when it is plain http or https."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """A table; `numeric` holds the columns that read best aligned to the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Point:
    """One observation with its evidence as label and value, and how to see it again."""

    title: str
    badge: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()
    see_again: str | None = None


@dataclass(frozen=True)
class Figure:
    """A drawn PNG; `name` is its file stem, `alt` says in words what it shows, `dark` is the same for a dark page."""

    name: str
    alt: str
    caption: str
    png: bytes
    dark: bytes = b""


@dataclass(frozen=True)
class Card:
    """The verdict at a glance."""

    name: str
    headline: str
    tone: Tone
    facts: tuple[tuple[str, str], ...]
    reasons: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One section; whatever it holds is shown in the order of these fields. A folded one starts closed in HTML.

    `left` tells what a shorter form of the report leaves out.
    """

    title: str
    slug: str
    paragraphs: tuple[str, ...] = ()
    card: Card | None = None
    facts: tuple[tuple[str, str], ...] = ()
    bullets: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    commands: tuple[Code, ...] = ()
    logs: tuple[tuple[str, Block], ...] = ()
    left: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Words:
    """What the templates say between the texts."""

    verdict: str = say("Verdict")
    reason: str = say("Reason")
    reasons: str = say("Reasons")
    missing: str = say("Missing")
    missing_for_a_verdict: str = say("Missing for a verdict")
    grade: str = say("Grade")
    see_again: str = say("See it again")
    evidence: str = say("Evidence and how to see it again")
    figure: str = say("Figure")
    contents: str = say("Sections")


@dataclass(frozen=True)
class Report:
    """A whole report; `notice` is shown above everything else, `remark` under the title."""

    title: str
    lead: str
    notice: str | None
    footer: str
    sections: tuple[Section, ...]
    words: Words = Words()
    remark: str = ""
    language: str = "en"


def mapped(value: Viewed, change: Callable[[str], str]) -> Viewed:
    """The same with every text that somebody reads changed."""
    found: Any = value
    if isinstance(found, str):
        found = change(found)
    elif isinstance(found, tuple):
        found = tuple(mapped(one, change) for one in found)
    elif is_dataclass(found) and not isinstance(found, type):
        told = {field.name: mapped(getattr(found, field.name), change) for field in fields(found)
                if (type(found).__name__, field.name) not in MARKS}  # fmt: skip
        found = replace(found, **told)
    result: Viewed = found
    return result
