"""The parts of a report before it has a format: frozen, of plain text that the renderers escape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

from audit.report.drawing import Drawing

Tone = Literal["holds", "fails", "open"]
MARKS = frozenset(
    {
        *(("Card", "tone"), ("Section", "slug"), ("Figure", "name"), ("Report", "language"), ("Report", "made_utc")),
        *(("Box", "fill"), ("Box", "edge"), ("Stroke", "paint"), ("Dot", "fill"), ("Dot", "edge")),
        *(("Words", "paint"), ("Words", "anchor")),
    }
)
"""Fields that programs read and that are not shown."""
Viewed = TypeVar("Viewed")


class Code(str):
    """One line shown in a fixed-width face: a name, a file, a command."""

    __slots__ = ()


class Block(str):
    """Several lines shown as they are, such as a compiler's log."""

    __slots__ = ()


class Quoted(str):
    """Words of others in a report of another language, with the marks that say so."""

    __slots__ = ()


class Link(str):
    """An address; a renderer links it only when it is plain http or https."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """A table; `numeric` holds the columns aligned to the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A figure of a report."""

    name: str  # its file stem
    alt: str  # what it shows, in words
    caption: str  # under it
    png: bytes  # for Markdown, and for HTML where there is no drawing
    dark: bytes = b""  # the same for a dark page without a drawing
    drawing: Drawing | None = None  # for HTML, in the language and the colours of the page


@dataclass(frozen=True)
class Card:
    """The verdict at a glance; `evidence` stands before the facts, behind `missing` where nothing is `decided`."""

    name: str
    headline: str
    tone: Tone
    facts: tuple[tuple[str, str], ...]
    evidence: tuple[str, ...]
    missing: tuple[str, ...]
    decided: bool


@dataclass(frozen=True)
class Section:
    """One section, shown in the order of these fields; a folded one starts closed in HTML, and so do logs."""

    title: str
    slug: str
    paragraphs: tuple[str, ...] = ()
    card: Card | None = None
    facts: tuple[tuple[str, str], ...] = ()
    bullets: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    commands: tuple[Code, ...] = ()
    blocks: tuple[tuple[str, Block], ...] = ()
    logs: tuple[tuple[str, Block], ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """A whole report; `notice` is shown above everything else, `remark` under the title.

    `made_utc` is when its audit started, for formats that are dated.
    """

    title: str
    lead: str
    notice: str | None
    footer: str
    sections: tuple[Section, ...]
    remark: str = ""
    language: str = "en"
    made_utc: str = ""


def mapped(value: Viewed, change: Callable[[str], str]) -> Viewed:
    """Return the same with every shown text changed."""
    found: Any = value
    if isinstance(found, str):
        found = change(found)
    elif isinstance(found, tuple):
        found = tuple(mapped(one, change) for one in found)
    elif is_dataclass(found) and not isinstance(found, type):
        shown = {field.name: mapped(getattr(found, field.name), change) for field in fields(found)
                if (type(found).__name__, field.name) not in MARKS}  # fmt: skip
        found = replace(found, **shown)
    result: Viewed = found
    return result
