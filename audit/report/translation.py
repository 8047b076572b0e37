"""A report in its language: its messages by their wordings, texts of the record through `record_sentences`.

A record keeps the words of its run. Names of the kit's own that stand in them are shown by their titles.
"""

from __future__ import annotations

import re
from dataclasses import replace

from audit.measure.comparison import PREFIX
from audit.model.errors import BadInput
from audit.report import evidence, record_sentences
from audit.report.messages import LANGUAGES, TEXTS, Joined, Message, Recorded, message, wordings
from audit.report.view import Report, mapped

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
    return _in_english(text) if english else record_sentences.translated(_named(text), language)


def _in_english(text: str) -> str:
    shown = PROBE.sub(lambda found: f'"{evidence.title(found[0])}"', _named(text))
    for old, new in record_sentences.texts(RECORDS).items():
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
