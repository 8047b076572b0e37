"""A report in another language: its messages by their wordings, texts of the record through `record_sentences`."""

from __future__ import annotations

import re
from dataclasses import replace

from audit.model.errors import BadInput
from audit.report import record_sentences
from audit.report.messages import LANGUAGES, Joined, Message, Recorded, message, wordings
from audit.report.view import Report, mapped

GAP = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")
"""A blank between two letters of a script without blanks."""
STOP, QUOTED = "。", "」"


def translated(report: Report, language: str) -> Report:
    """Return the report in that language.

    Raises:
        BadInput: the language is unknown.
    """
    if language not in LANGUAGES:
        raise BadInput(f"language {language}: unknown; known: {', '.join(LANGUAGES)}")
    if language == report.language:
        return report
    shown = mapped(report, lambda text: _paragraph(text, language))
    return replace(shown, language=language, remark=worded(message("page.quoted"), language))


def worded(text: str, language: str) -> str:
    """Return a text of any kind in that language, as a part of a longer one."""
    if isinstance(text, Message):
        arguments = {name: worded(value, language) for name, value in text.arguments.items()}
        return wordings()[text.key][language].format(**arguments)
    if isinstance(text, Joined):
        return wordings()[text.separator][language].join(worded(part, language) for part in text.parts)
    return record_sentences.translated(text, language) if isinstance(text, Recorded) else text


def _paragraph(text: str, language: str) -> str:
    """Return a text as it stands alone: where it holds several sentences, the last one has its full stop too."""
    if not isinstance(text, Message | Joined | Recorded):
        return text
    shown = worded(text, language)
    closed = GAP.sub("", shown)
    if isinstance(text, Recorded) and STOP in closed and not closed.endswith((STOP, QUOTED)):
        return closed + STOP
    return type(shown)(closed)
