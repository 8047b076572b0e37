"""Numbers as they are printed: four significant digits, units beside them, and words for an absent number."""

from __future__ import annotations

import math

from pydantic import JsonValue

from audit.model import Shape
from audit.report.messages import Recorded, joined, message

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
