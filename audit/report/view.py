"""What a report is made of before it has a format: frozen, plain text only, escaped by the renderers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["holds", "fails", "open"]


class Code(str):
    """One line to be shown in a fixed-width face: a name, a file, a command."""

    __slots__ = ()


class Block(str):
    """Several lines to be shown as they are, such as a compiler's log."""

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
    """One section; whatever it holds is shown in the order of these fields. A folded one starts closed in HTML."""

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
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """A whole report; `notice` is shown above everything else."""

    title: str
    lead: str
    notice: str | None
    footer: str
    sections: tuple[Section, ...]
