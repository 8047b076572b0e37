"""English sentences of a record in another language, found by their form in `texts/<language>/*.toml`.

A record holds finished sentences in English, those of older versions too. Each line of the files is an English pattern
with placeholders, `{count} of {all} rows written`, and its translation with the same ones. A sentence that fits a
pattern is taken apart, and what the placeholders hold is translated in turn. Of several readings the one that leaves
least untranslated counts. Words that no pattern knows, such as a compiler's, stay as they are in 「」.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from string import Formatter

from audit.model import sanitizer
from audit.report.messages import TEXTS
from audit.report.view import Quoted

DEEPEST, MOST_PARTS = 8, 100
"""The most sentences one inside the other, and parts of one text that are held against the patterns: 28 are the most in
the published records, and a text of others could have them without end."""
BEGINNING = 3
"""Letters by which the patterns for a sentence are looked up."""
NUMBERS = frozenset({"all", "bits", "count", "got", "line", "moved", "number", "ratio", "share", "time"})
"""Placeholders that hold a number, so that words before one are not taken for a part of it."""
NUMBER = re.compile(r"[+-]?[\d.,]+(?:e[+-]?\d+)?|nan|inf")
PROSE = re.compile(r"(?<!\w)[A-Za-z]?[a-z]+ [a-z]{2,}(?!\w)")


@dataclass(frozen=True)
class Pattern:
    """An English pattern taken apart: `pieces` stand around the placeholders `names`."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]
    translation: str

    @property
    def weight(self) -> int:
        """The characters of a sentence that it fixes."""
        return sum(len(piece) for piece in self.pieces)

    def read(self, sentence: str) -> dict[str, str] | None:
        """Return what the placeholders hold in a sentence, None where it has another form; linear in its length."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return {} if sentence == first else None
        if not sentence.startswith(first) or not sentence.endswith(last):
            return None
        end, place, values = len(sentence) - len(last), len(first), []
        for piece in self.pieces[1:-1]:
            found = sentence.find(piece, place + 1, end)
            if found < 0:
                return None
            values.append(sentence[place:found])
            place = found + len(piece)
        values.append(sentence[place:end])
        held = dict(zip(self.names, values, strict=True))
        fits = all(value and (name not in NUMBERS or NUMBER.fullmatch(value)) for name, value in held.items())
        return held if fits else None


def translated(text: str, language: str) -> str:
    """Return a text of a record in that language, in 「」 where no pattern fits."""
    return Quoted(f"「{text}」") if len(text) > sanitizer.LINE_CHARACTERS else _read(text, language)


@cache
def patterns(language: str) -> tuple[Pattern, ...]:
    """Return the patterns of a language, the most literal first."""
    files = [texts(path) for path in sorted((TEXTS / language).glob("*.toml"))]
    return tuple(sorted((taken_apart(*pair) for pairs in files for pair in pairs.items()), key=lambda one: -one.weight))


@cache
def texts(path: Path) -> dict[str, str]:
    """Return one file: pattern → translation."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def taken_apart(english: str, translation: str) -> Pattern:
    """Return the pattern of one line of a file."""
    fields = list(Formatter().parse(english))
    names = tuple(name for _, name, _, _ in fields if name is not None)
    pieces = [piece for piece, _, _, _ in fields]
    return Pattern((*pieces, "") if len(pieces) == len(names) else tuple(pieces), names, translation)


@cache
def _index(language: str) -> dict[str, list[tuple[int, Pattern]]]:
    """Return the patterns with their places, by the sentence that they are or by how it begins, `abc…`, or ends,
    `…xyz`; under an empty text those that say too little of either."""
    found: dict[str, list[tuple[int, Pattern]]] = {}
    for place, one in enumerate(patterns(language)):
        first, last = one.pieces[0], one.pieces[-1]
        key = f"{first[:BEGINNING]}…" if len(first) >= BEGINNING else f"…{last[-BEGINNING:]}"
        key = first if len(one.pieces) == 1 else key if max(len(first), len(last)) >= BEGINNING else ""
        found.setdefault(key, []).append((place, one))
    return found


@lru_cache(maxsize=4096)
def _read(text: str, language: str) -> str:
    return _Reading(language).read(text, DEEPEST)[0]


class _Reading:
    """One text of a record taken apart, whose parts are counted."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._known: dict[tuple[str, int], tuple[str, int]] = {}

    def read(self, text: str, deeper: int) -> tuple[str, int]:
        """Return a sentence in that language and how many of its characters are quoted."""
        if (text, deeper) not in self._known:
            self._known[text, deeper] = self._best(text, deeper)
        return self._known[text, deeper]

    def _best(self, text: str, deeper: int) -> tuple[str, int]:
        best: tuple[str, int] | None = None
        for pattern, held in self._readings(text) if deeper else ():
            parts = {name: self.read(value, deeper - 1) for name, value in held.items()}
            quoted = sum(count for _, count in parts.values())
            if pattern.weight <= len(": ") and not _known(held, parts):
                continue
            if best is None or quoted < best[1]:
                best = pattern.translation.format(**{name: value for name, (value, _) in parts.items()}), quoted
            if best[1] == 0:
                break
        if best is not None:
            return best
        return (Quoted(f"「{text}」"), len(text)) if PROSE.search(text) else (text, 0)

    def _readings(self, sentence: str) -> Iterator[tuple[Pattern, dict[str, str]]]:
        """Give the patterns that fit, the most literal first."""
        index = _index(self._language)
        keys = (sentence, f"{sentence[:BEGINNING]}…", f"…{sentence[-BEGINNING:]}", "")
        for _, pattern in sorted((one for key in dict.fromkeys(keys) for one in index.get(key, ())), key=itemgetter(0)):
            held = pattern.read(sentence) if len(self._known) < MOST_PARTS else None
            if held is not None:
                yield pattern, held


def _known(held: dict[str, str], parts: dict[str, tuple[str, int]]) -> bool:
    """Return whether a colon or a semicolon joins texts with patterns: between words of others it is not ours."""
    quoted = [name for name, (text, _) in parts.items() if isinstance(text, Quoted)]
    return not quoted or any(PROSE.search(text) for name, text in held.items() if name not in quoted)
