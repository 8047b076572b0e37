"""A report in its language: its messages by their wordings, sentences of the record by their form.

A record holds finished sentences in English, those of older versions too. Names of the kit's own that stand in them are
shown by their titles. Each line of `texts/<language>/*.toml` is an English pattern with placeholders, `{count} of {all}
rows written`, and its translation with the same ones. A sentence that fits a pattern is taken apart, and what the
placeholders hold is translated in turn. Of several readings the one that leaves least untranslated counts. Words that
no pattern knows, such as a compiler's, stay as they are in 「」.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from string import Formatter

from audit.measure.comparison import PREFIX
from audit.model import sanitizer
from audit.model.errors import BadInput
from audit.report import evidence
from audit.report.messages import LANGUAGES, TEXTS, Joined, Message, Recorded, message, wordings
from audit.report.view import Quoted, Report, mapped

GAP = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")
"""A blank between two letters of a script without blanks."""
STOP, QUOTED = "。", "」"
BASELINE = re.compile(rf"\b{PREFIX}\w+")
PROBE = re.compile(r"(?<=; see )(?:agreement|contract)\b|(?<=,\s)repeat$|^\w+(?=, skipped\s)")
RECORDS = TEXTS / "en" / "records.toml"
"""English of records → today's."""


def translated(report: Report, language: str) -> Report:
    """Return the report in that language. Raises BadInput: the language is unknown."""
    if language not in LANGUAGES:
        raise BadInput(f"language {language}: unknown; known: {', '.join(LANGUAGES)}")
    if language == report.language:
        return mapped(report, lambda text: worded(text, language))
    shown = mapped(report, lambda text: _paragraph(text, language))
    return replace(shown, language=language, remark=worded(message("page.quoted"), language))


def worded(text: str, language: str) -> str:
    """Return a text of any kind in that language, as a part of a longer one."""
    english = language == "en"
    if isinstance(text, Message):
        arguments = {name: worded(value, language) for name, value in text.arguments.items()}
        return Message(text.key, arguments) if english else wordings()[text.key][language].format(**arguments)
    if isinstance(text, Joined):
        parts = [worded(part, language) for part in text.parts]
        return Joined(text.separator, parts) if english else wordings()[text.separator][language].join(parts)
    if not isinstance(text, Recorded):
        return text
    return _in_english(text) if english else sentence(_named(text), language)


def _in_english(text: str) -> str:
    shown = PROBE.sub(lambda found: f'"{evidence.title(found[0])}"', _named(text))
    for old, new in texts(RECORDS).items():
        shown = shown.replace(old, new)
    return Recorded(shown)


def _named(text: str) -> str:
    return BASELINE.sub(lambda found: evidence.callable_title(found[0]), text)


def _paragraph(text: str, language: str) -> str:
    """Return a text as it stands alone: where it holds several sentences, the last one has its full stop too."""
    if not isinstance(text, Message | Joined | Recorded):
        return text
    shown = worded(text, language)
    closed = GAP.sub("", shown)
    if isinstance(text, Recorded) and STOP in closed and not closed.endswith((STOP, QUOTED)):
        return closed + STOP
    return type(shown)(closed)


DEEPEST, MOST_PARTS = 8, 1000
"""The most sentences one inside the other, and parts of one text that are held against the patterns: published records
need some hundreds, and a text of others could have them without end."""
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


def sentence(text: str, language: str) -> str:
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
