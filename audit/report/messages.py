"""Messages of the report: an id, its arguments, and a wording in each language in `texts/messages.toml`.

Every text of a report is a `str` that reads in English. `audit.report.translation` words a `Message`, a `Joined` and a
`Recorded` in another language; any other `str` is a name or a number and is the same in all of them. Numbers have four
significant digits and their unit beside them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from audit.model import Shape

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


NOT_MEASURED = message("word.not_measured")
NOT_PUBLISHED = message("word.not_published")
UNKNOWN = message("word.unknown")
NONE = message("word.none")


def number(value: float) -> str:
    """Return a count in full, another number with four significant digits; a power of ten only outside 1e-4 to 1e6."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e6:
        places = max(0, 3 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3e}"


def milliseconds(value: float | None, *, absent: str = NOT_MEASURED) -> str:
    """Return a time with its unit, or the words for its absence."""
    return absent if value is None else f"{number(float(value))} ms"


def ratio(value: float, *, about: bool = False) -> str:
    """Return a speedup such as "108.9x"."""
    text = f"{number(float(value))}x"
    return message("form.about", ratio=text) if about else text


def with_interval(shown: str, low: float | None, high: float | None) -> str:
    """Return a quantity with its interval, such as "3x (2.9 to 3.1)"; alone where a bound is absent."""
    if low is None or high is None:
        return shown
    bounds = message("form.interval", low=number(low), high=number(high))
    return message("form.ratio_bounds", ratio=shown, bounds=bounds)


def count_of(count: float, whole: float, *, form: str) -> str:
    """Return a message about a part of a whole, "3 of 4 rows"."""
    return message(form, count=number(count), all=number(whole))


def shape(sizes: Shape) -> str:
    """Return named sizes such as "N = 4,096, K = 33"."""
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())


def capability(value: int) -> str:
    """Return 75 as "7.5"."""
    return f"{value // 10}.{value % 10}"


def sentence(text: str) -> str:
    """Return a sentence of the record with one full stop at its end."""
    return message("form.sentence", sentence=Recorded(text.rstrip().rstrip(".")))


def anything(value: JsonValue) -> str:
    """Return any value of a finding's evidence as text."""
    if isinstance(value, bool):
        return message("word.yes") if value else message("word.no")
    if value is None:
        return NONE
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, dict):
        pairs = ((label(key), anything(entry)) for key, entry in value.items() if entry is not None)
        return joined("comma", (message("form.label_value", label=name, value=text) for name, text in pairs))
    return _many(value) if isinstance(value, list) else Recorded(value)


def _many(values: list[JsonValue]) -> str:
    texts = [anything(value) for value in values]
    if all(isinstance(value, int | float) for value in values):
        return f"[{', '.join(texts)}]"
    return message("form.list", entries=joined("comma", texts))


def label(key: str) -> str:
    """Return a key of the evidence as words; a trailing `_ms` becomes the unit."""
    words = Recorded(key.removesuffix("_ms").replace("_", " "))
    return message("form.label_ms", label=words) if key.endswith("_ms") else words
