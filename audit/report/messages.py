"""Messages of the report: an id, its arguments, and a wording in each language in `texts/messages.toml`.

Every text of a report is a `str` that reads in English. `audit.report.translation` words a `Message`, a `Joined` and a
`Recorded` in another language; any other `str` is a name or a number and is the same in all of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "ja")
TEXTS = Path(__file__).with_name("texts")


@cache
def wordings() -> Mapping[str, Mapping[str, str]]:
    """Return the wordings of every message: its id `section.name` → language → text with placeholders."""
    sections = tomllib.loads((TEXTS / "messages.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": texts for section, named in sections.items() for name, texts in named.items()}


def of_templates(language: str) -> dict[str, str]:
    """Return the words of the templates, `template.<name>`, by their names."""
    found = ((key.partition("."), texts[language]) for key, texts in wordings().items())
    return {name: text for (section, _, name), text in found if section == "template"}


class Message(str):
    """A message with its arguments, which may be texts of any kind."""

    key: str
    arguments: Mapping[str, str]

    __slots__ = ("arguments", "key")

    def __new__(cls, key: str, arguments: Mapping[str, str]) -> Message:
        """Word the message in English. Raises KeyError for an unknown id or a missing argument."""
        texts = wordings()[key]
        counted = arguments.get("all") or arguments.get("count") or arguments.get("answers")
        wording = texts["one"] if counted == "1" and "one" in texts else texts["en"]
        text = super().__new__(cls, wording.format(**arguments))
        text.key, text.arguments = key, arguments
        return text


class Joined(str):
    """Texts of any kind with a separator between them, which is a message too."""

    separator: str
    parts: tuple[str, ...]

    __slots__ = ("parts", "separator")

    def __new__(cls, separator: str, parts: Iterable[str]) -> Joined:
        """Join the parts in English."""
        known = tuple(parts)
        text = super().__new__(cls, wordings()[separator]["en"].join(known))
        text.separator, text.parts = separator, known
        return text


class Recorded(str):
    """A text of the record: a sentence of an earlier stage, or words that others wrote."""

    __slots__ = ()


def message(key: str, /, **arguments: str) -> Message:
    """Return a message with its arguments by name."""
    return Message(key, arguments)


def joined(separator: str, parts: Iterable[str]) -> Joined:
    """Return texts joined by the separator `join.<separator>`."""
    return Joined(f"join.{separator}", parts)


def headings(*names: str) -> tuple[Message, ...]:
    """Return the headings `column.<name>` of a table."""
    return tuple(message(f"column.{name}") for name in names)
