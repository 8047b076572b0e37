"""A source rule: one question about a source, the lines that answer it, and the probe that can confirm them.

Parts of a source stand in the order of their places: grouped by a name, or those between two offsets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Reading = TypeVar("Reading")
Part = TypeVar("Part")
Standing = Literal["hint", "advice"]
UNORDERED = ("race-shared", "race-global", "warp-mask", "uninitialised-read")
ABSENT = ("barrier-divergence", "warp-mask", "exited-lane-read")
OUTSIDE = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address", "misaligned-access", "uninitialised-read")
"""Kinds of behaviour, see `probes.concluding.behaviour`, of threads that do not wait for each other, of threads that
never arrive, and of accesses past the end."""


def names(text: str) -> frozenset[str]:
    """Return the words of a text, for a long list of names."""
    return frozenset(text.split())


@dataclass(frozen=True, order=True)
class Spot:
    """A line that a rule points at, from 1, and one sentence about it without its full stop."""

    line: int
    message: str


@dataclass(frozen=True)
class Rule(Generic[Reading]):
    """One question to a source.

    A *hint* belongs to the record of every audit; *advice* speaks of what sound kernels do as well, or may do without
    under the conditions they were measured in, and is shown on request.
    """

    name: str  # unique among all rules, e.g. "static_cache"
    doc: str | None  # of its function: the question, then what stays silent
    confirm_with: str  # the probe that can confirm it on a device
    find: Callable[[Reading], Iterable[Spot]]  # in any order; empty where the source does not say it plainly
    standing: Standing = "hint"
    precise: bool = False  # speaks of lower precision, and so only where none was declared
    kinds: tuple[str, ...] = ()  # of behaviour that it can be the cause of; empty: any

    @property
    def probe(self) -> str:
        """Its name in a record."""
        return f"review.{self.name}"

    @property
    def question(self) -> str:
        """The first sentence of its docstring on one line."""
        return " ".join((self.doc or "").partition("\n\n")[0].split())

    @property
    def silent_on(self) -> str:
        """The rest of its docstring on one line."""
        return " ".join((self.doc or "").partition("\n\n")[2].split())


def rule(
    confirm_with: str, *, standing: Standing = "hint", precise: bool = False, kinds: tuple[str, ...] = ()
) -> Callable[[Callable[[Reading], Iterable[Spot]]], Rule[Reading]]:
    """Make a rule of a function, which gives it its name and its docstring; arguments as for `Rule`."""
    return lambda find: Rule(find.__name__, find.__doc__, confirm_with, find, standing, precise, kinds)


def grouped(pairs: Iterable[tuple[str, Part]]) -> dict[str, list[Part]]:
    """Return the parts of each name."""
    found: dict[str, list[Part]] = {}
    for name, part in pairs:
        found.setdefault(name, []).append(part)
    return found


def between(parts: Sequence[Part], first: int, last: int, start: Callable[[Part], int]) -> list[Part]:
    """Return the parts that start between two offsets; `start` gives the offset of one."""
    return list(parts[bisect_left(parts, first, key=start) : bisect_left(parts, last, key=start)])
