"""Parts of a source in the order of their places: grouped by a name, and those between two offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Part = TypeVar("Part")


def grouped(pairs: Iterable[tuple[str, Part]]) -> dict[str, list[Part]]:
    """Return the parts of each name."""
    found: dict[str, list[Part]] = {}
    for name, part in pairs:
        found.setdefault(name, []).append(part)
    return found


def between(parts: Sequence[Part], first: int, last: int, start: Callable[[Part], int]) -> list[Part]:
    """Return the parts that start between two offsets; `start` gives the offset of one."""
    return list(parts[bisect_left(parts, first, key=start) : bisect_left(parts, last, key=start)])
