"""A report said in another language: its own sentences from the catalogue, a record's where the catalogue knows them.

What nobody translated, a compiler's words or somebody's name for something, stays as it is and stands in 「」.
"""

from __future__ import annotations

import re
from dataclasses import replace

from audit.report import catalogue
from audit.report.catalogue import Catalogue
from audit.report.said import Listed, Said, Told, say
from audit.report.view import Quoted, Report, mapped

REMARK = say("What stands in 「」 is quoted from the record as it is; nobody translated it.")
PROSE = re.compile(r"(?<!\w)[A-Za-z]?[a-z]+,? [a-z]{2,}(?!\w)")


def translated(report: Report, language: str) -> Report:
    """The report in that language; English is what it was made in.

    Raises:
        BadInput: there is no such language.
    """
    if language == report.language:
        return report
    known = catalogue.load(language)
    said = mapped(report, lambda text: text_of(text, known))
    return replace(said, language=language, remark=text_of(REMARK, known))


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
    found = known.find(text)
    if found is None:
        return Quoted(f"「{text}」") if PROSE.search(text) else text
    template, held = found
    return template.format(**{name: _sentence(value, known) for name, value in held.items()})
