"""The catalogue of a language: `texts/<language>/*.toml`, each line an English text and the same in that language.

A text has placeholders, `{count} of {all} rows`, and the other language the same ones in any order. `report.toml` holds
the report's own sentences; the other files hold what stages write into records, which is found again by its form.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

from audit.model.errors import BadInput

LANGUAGES = ("en", "ja")
TEXTS = Path(__file__).with_name("texts")
OWN = "report"
NUMBERS = frozenset({"all", "bits", "count", "line", "moved", "number", "ratio", "share", "time"})
"""Placeholders that hold nothing but a number, so that no words before one are taken for a part of it."""
NUMBER = re.compile(r"[+-]?[\d.,]+(?:e[+-]?\d+)?|nan|inf")


@dataclass(frozen=True)
class Pattern:
    """An English template taken apart: `pieces` stand around the placeholders `names`; `text` is the translation."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]
    text: str

    @property
    def weight(self) -> int:
        """How much of a sentence it fixes."""
        return sum(len(piece) for piece in self.pieces)

    def read(self, sentence: str) -> dict[str, str] | None:
        """What the placeholders hold in that sentence; None where it is another one. Linear in its length."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return {} if sentence == first else None
        if not sentence.startswith(first) or not sentence.endswith(last):
            return None
        end, place, held = len(sentence) - len(last), len(first), []
        for piece in self.pieces[1:-1]:
            found = sentence.find(piece, place + 1, end)
            if found < 0:
                return None
            held.append(sentence[place:found])
            place = found + len(piece)
        held.append(sentence[place:end])
        told = dict(zip(self.names, held, strict=True))
        fits = all(value and (name not in NUMBERS or NUMBER.fullmatch(value)) for name, value in told.items())
        return told if fits else None


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All texts of one language: the report's by their template, those of records by their form."""

    language: str
    said: Mapping[str, str]
    patterns: tuple[Pattern, ...]

    def readings(self, sentence: str) -> Iterator[tuple[Pattern, dict[str, str]]]:
        """Every pattern a record's sentence has, with what its placeholders hold; the most literal first."""
        for pattern in self.patterns:
            held = pattern.read(sentence)
            if held is not None:
                yield pattern, held


@cache
def load(language: str) -> Catalogue:
    """The catalogue of a language other than English.

    Raises:
        BadInput: there is no such language.
    """
    if language not in LANGUAGES:
        raise BadInput(f"language {language}: unknown; known: {', '.join(LANGUAGES)}")
    files = {path.stem: texts(path) for path in sorted((TEXTS / language).glob("*.toml"))}
    sentences = (taken_apart(*pair) for name, pairs in files.items() if name != OWN for pair in pairs.items())
    return Catalogue(language, files.get(OWN, {}), _heaviest_first(sentences))


def texts(path: Path) -> dict[str, str]:
    """One file of a catalogue."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def taken_apart(english: str, text: str) -> Pattern:
    """The pattern of a line of the catalogue."""
    fields = list(Formatter().parse(english))
    names = tuple(name for _, name, _, _ in fields if name is not None)
    pieces = [piece for piece, _, _, _ in fields]
    return Pattern((*pieces, "") if len(pieces) == len(names) else tuple(pieces), names, text)


def _heaviest_first(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(sorted(patterns, key=lambda pattern: -pattern.weight))
