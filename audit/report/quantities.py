"""Numbers as they are printed: four significant digits, units beside them, and words for a number nobody has."""

from __future__ import annotations

import math
from statistics import median

from pydantic import JsonValue

from audit.model import Shape
from audit.report.said import Told, listed, say

NOT_MEASURED = say("NOT MEASURED")
NOT_PUBLISHED = say("not published")
UNKNOWN = say("unknown")


def number(value: float) -> str:
    """A count in full, anything else with four significant digits and never in powers of ten between 1e-4 and 1e6."""
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
    """A time with its unit, or the words for its absence."""
    return absent if value is None else f"{number(float(value))} ms"


def ratio(value: float, *, about: bool = False) -> str:
    """A speedup such as "108.9x"."""
    told = f"{number(float(value))}x"
    return say("about {ratio}", ratio=told) if about else told


def shape(sizes: Shape) -> str:
    """Named sizes such as "N = 4,096, K = 33"."""
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())


def capability(value: int) -> str:
    """75 as "7.5"."""
    return f"{value // 10}.{value % 10}"


def middle(samples_ms: tuple[float, ...]) -> float:
    """The median of raw samples in milliseconds."""
    return median(samples_ms)


def sentence(text: str) -> str:
    """A sentence of the record with one full stop at its end."""
    return say("{sentence}.", sentence=Told(text.rstrip().rstrip(".")))


def anything(value: JsonValue) -> str:
    """Any value of a finding's evidence as text."""
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if value is None:
        return say("none")
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, dict):
        known = {key: entry for key, entry in value.items() if entry is not None}
        return listed(
            ", ", (say("{label} {value}", label=label(key), value=anything(entry)) for key, entry in known.items())
        )
    return _many(value) if isinstance(value, list) else Told(value)


def _many(values: list[JsonValue]) -> str:
    told = [anything(value) for value in values]
    if all(isinstance(value, int | float) for value in values):
        return f"[{', '.join(told)}]"
    return say("[{entries}]", entries=listed(", ", told))


def label(key: str) -> str:
    """A key of the evidence as words; a trailing `_ms` becomes the unit."""
    words = Told(key.removesuffix("_ms").replace("_", " "))
    return say("{label} (ms)", label=words) if key.endswith("_ms") else words
