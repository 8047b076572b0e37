"""A figure as boxes, strokes, dots and words on a plane: an SVG in the HTML page, a PNG beside the Markdown.

Nothing here depends on a font or a machine, so the same record gives the same SVG everywhere. Lengths are in units of
a plane `WIDE` units wide; the words of a drawing are messages until it is rendered in a language.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from audit.report.messages import number

WIDE = 440
SIZE, SMALL = 13.0, 11.5
"""Heights of the letters; a phone shows them at four fifths."""
LINE = 1.25
LATIN, BOLD, OTHER = 0.56, 0.62, 1.0
"""Mean width of a letter as a share of its height: of wide faces, so that other ones fit too."""
TOKEN = re.compile(r"\s+|[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef-]+-?|-")
"""A blank, a letter that a line may end behind, or a word up to its hyphen."""
Paint = Literal["text", "soft", "page", "line", "warm", "on-warm", "cool", "on-cool", "mid", "pale", "quiet", "none"]
"""The names of colours; the style sheet and `figures.raster` say which they are."""
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    wide: float
    tall: float
    fill: Paint
    edge: Paint = "none"
    dashed: bool = False


@dataclass(frozen=True)
class Stroke:
    """A line from one point to another."""

    start: tuple[float, float]
    end: tuple[float, float]
    paint: Paint
    thick: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """A filled circle, or an open one with a fill of the page."""

    x: float
    y: float
    radius: float
    fill: Paint
    edge: Paint


@dataclass(frozen=True)
class Words:
    """A text of at most `most` lines as wide as `wide`; `y` is the middle of the block."""

    x: float
    y: float
    text: str
    paint: Paint = "text"
    size: float = SIZE
    anchor: Anchor = "start"
    wide: float = WIDE
    most: int = 1
    bold: bool = False

    def lines(self, shown: str) -> tuple[str, ...]:
        """Return the lines of the text as shown; the last one ends in an ellipsis where there is more."""
        each = self.size * (BOLD if self.bold else LATIN)
        lines = list(_wrapped(shown, self.wide / each))
        if len(lines) > self.most:
            lines = [*lines[: self.most - 1], lines[self.most - 1].rstrip(" ,;:") + "…"]
        return tuple(lines)

    def first(self, lines: int) -> float:
        """Return the middle of the first of that many lines."""
        return self.y - (lines - 1) * self.size * LINE / 2


Part = Box | Stroke | Dot | Words


@dataclass(frozen=True)
class Drawing:
    """Everything of a figure, in the order of drawing."""

    tall: float
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Scale:
    """A horizontal axis of logarithms between two places of a drawing."""

    low: float
    high: float
    left: float
    right: float
    unit: str = ""

    def at(self, value: float) -> float:
        """Return the place of a value; one outside stands at the end."""
        low, high = math.log(self.low), math.log(self.high)  # the quotient of the two may be infinite
        share = (math.log(min(max(value, self.low), self.high)) - low) / (high - low)
        return self.left + share * (self.right - self.left)

    def axis(self, top: float, label: str) -> Iterator[Part]:
        """Give the line, at most seven ticks with their values, one in 36 units, and the label: 40 units."""
        yield Stroke((self.left, top), (self.right, top), "soft")
        for value in self._ticks():
            yield Stroke((self.at(value), top), (self.at(value), top + 4), "soft")
            yield Words(self.at(value), top + 13, f"{number(float(value))}{self.unit}", "soft", SMALL, "middle")
        middle = (self.left + self.right) / 2
        yield Words(middle, top + 30, label, "soft", SMALL, "middle")

    def _ticks(self) -> list[float]:
        most = min(7, int((self.right - self.left) / 36))
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        there = self._there(decades, (1, 3))
        if len(there) < 2:
            return self._there(decades, (1, 2, 4, 7))[:most]
        tens = there[0.25 < math.log10(there[0]) % 1 < 0.75 :: 2]  # behind a first tick of 3, 30, ...
        return there if len(there) <= most else tens[:: math.ceil(len(tens) / most)]

    def _there(self, decades: range, factors: Iterable[int]) -> list[float]:
        ticks = (factor * 10.0**decade for decade in decades for factor in factors)
        return [one for one in ticks if self.low <= one <= self.high]


def legend(entries: tuple[tuple[Paint, str, bool], ...]) -> Iterator[Part]:
    """Give a line of 18 units for each entry: its colour, its meaning, and whether the edge is dashed."""
    for place, (paint, text, dashed) in enumerate(entries):
        middle = 9.0 + 18 * place
        edge: Paint = "warm" if dashed else "soft"
        yield Box(0, middle - 6, 20, 12, paint, edge, dashed)
        yield Words(28, middle, text, size=SMALL, wide=WIDE - 28)


def cross(x: float, y: float, reach: float) -> Iterator[Part]:
    """Give a cross."""
    yield Stroke((x - reach, y - reach), (x + reach, y + reach), "text", 2.5)
    yield Stroke((x - reach, y + reach), (x + reach, y - reach), "text", 2.5)


def _wrapped(text: str, most: float) -> Iterator[str]:
    """Give lines of at most that many usual letters, broken at blanks where there are any."""
    line, used, each = "", 0.0, max(1, int(most))
    for token in TOKEN.findall(text):
        for piece in (token[start : start + each] for start in range(0, len(token), each)):
            wide = _letters(piece)
            if line and used + wide > most:
                yield line.rstrip()
                line, used = "", 0.0
            if line or not piece.isspace():
                line, used = line + piece, used + wide
    if line:
        yield line.rstrip()


def _letters(text: str) -> float:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) - wide + wide * OTHER / LATIN
