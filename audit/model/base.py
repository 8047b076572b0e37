"""The base class of everything a record holds, and the bounds of its texts and evidence."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

MOST_CHARACTERS = 20_000
"""Of one text; a compiler's log is kept up to 4,000."""
MOST_VALUES = 200_000
"""In the evidence of one finding; a coverage map has 4,096."""
DEEPEST = 32
LARGEST = 2**63
"""Integers from here on are none in other readers of JSON."""
_TOO_MUCH = f"evidence of at most {MOST_VALUES:,} values, {DEEPEST} deep, is kept"


class Frozen(BaseModel):
    """Immutable, refuses unknown keys, wrong types, NaN and infinities."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def problem(error: ValidationError, whole: str = "the file") -> str:
    """Return the first key that does not fit and why; `whole` names all of it."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"


def readable(text: Any) -> Any:
    """Return a text without half characters, shortened where it is very long; anything else as it is."""
    if not isinstance(text, str):
        return text
    cut = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode("utf-8")


def bounded(value: Any) -> Any:
    """Return the evidence with every text readable. Raises ValueError: NaN or an infinity, an integer past 64 bits,
    nested too deeply, or too much of it."""
    counted = 0

    def copied(value: Any, depth: int) -> Any:
        nonlocal counted
        is_map = isinstance(value, list) and depth < DEEPEST and _is_map(value)
        counted += 1 + (len(value) if is_map else 0)
        if counted > MOST_VALUES or depth > DEEPEST:
            raise ValueError(_TOO_MUCH)
        if isinstance(value, dict):
            return {readable(key): copied(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return value.copy() if is_map else [copied(one, depth + 1) for one in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("a number of the evidence is not finite; it is told as text")
        if isinstance(value, int) and abs(value) >= LARGEST:
            raise ValueError("an integer of the evidence has more than 64 bits")
        return readable(value)

    return copied(value, 0)


def _is_map(values: list[Any]) -> bool:
    """Whether these are small whole or finite numbers alone, as in a map of thousands: one look at all of them."""
    kinds = {*map(type, values)}
    if kinds == {float}:
        return all(map(math.isfinite, values))
    return kinds == {int} and min(values) > -LARGEST and max(values) < LARGEST
