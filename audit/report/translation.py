"""A report said in another language: its own sentences from the catalogue, a record's where the catalogue knows them.

What nobody translated, a compiler's words or somebody's name for something, stays as it is and stands in 「」.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from audit.model import sanitizer
from audit.report import catalogue
from audit.report.catalogue import Catalogue
from audit.report.said import Listed, Said, Told, say
from audit.report.view import Quoted, Report, mapped

REMARK = say("What stands in 「」 is quoted from the record as it is; nobody translated it.")
DEEPEST = 8
"""How many sentences may stand one inside the other."""
PROSE = re.compile(r"(?<!\w)[A-Za-z]?[a-z]+ [a-z]{2,}(?!\w)")
GAP = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")
"""A space between two letters of a script that has none."""
STOP, QUOTED = "。", "」"


def translated(report: Report, language: str) -> Report:
    """The report in that language; English is what it was made in.

    Raises:
        BadInput: there is no such language.
    """
    if language == report.language:
        return report
    known = catalogue.load(language)
    said = mapped(report, lambda text: _shown(text, known))
    return replace(said, language=language, remark=text_of(REMARK, known))


def _shown(text: str, known: Catalogue) -> str:
    """A text as it stands alone: several sentences end in a full stop as one of them would."""
    if not isinstance(text, Said | Listed | Told):
        return text
    told = text_of(text, known)
    closed = GAP.sub("", told)
    if isinstance(text, Told) and STOP in closed and not closed.endswith((STOP, QUOTED)):
        return closed + STOP
    return type(told)(closed)


def text_of(text: str, known: Catalogue) -> str:
    """Any text of a report in the catalogue's language; names, numbers and code are the same in all."""
    if isinstance(text, Said):
        told = {name: text_of(value, known) for name, value in text.parameters.items()}
        return known.said[text.template].format(**told)
    if isinstance(text, Listed):
        return known.said[text.separator].join(text_of(part, known) for part in text.parts)
    if isinstance(text, Told):
        return _sentence(str(text), known)
    return text


def _sentence(text: str, known: Catalogue) -> str:
    if len(text) > sanitizer.LINE_CHARACTERS:
        return Quoted(f"「{text}」")
    return _read(text, known, DEEPEST)[0]


@lru_cache(maxsize=4096)
def _read(text: str, known: Catalogue, deeper: int) -> tuple[str, int]:
    """A sentence and how many of its characters had to be quoted: the reading that quotes least is taken."""
    best: tuple[str, int] | None = None
    for pattern, held in known.readings(text) if deeper else ():
        told = {name: _read(value, known, deeper - 1) for name, value in held.items()}
        quoted = sum(count for _, count in told.values())
        if pattern.weight <= len(": ") and not _ours(held, told):
            continue
        if best is None or quoted < best[1]:
            best = pattern.text.format(**{name: value for name, (value, _) in told.items()}), quoted
        if best[1] == 0:
            break
    if best is not None:
        return best
    return (Quoted(f"「{text}」"), len(text)) if PROSE.search(text) else (text, 0)


def _ours(held: dict[str, str], told: dict[str, tuple[str, int]]) -> bool:
    """Whether a colon or a semicolon joins texts that we know: alone it makes none out of somebody's words."""
    quoted = [name for name, (text, _) in told.items() if isinstance(text, Quoted)]
    return not quoted or any(PROSE.search(text) for name, text in held.items() if name not in quoted)
