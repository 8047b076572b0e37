"""A source rule: one question about a source, the lines that answer it, and the probe that can confirm them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Reading = TypeVar("Reading")
Standing = Literal["hint", "advice"]


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

    Args:
        name: unique among all rules, e.g. "static_cache".
        doc: the docstring of its function: the question, then what stays silent.
        confirm_with: the name of the probe that can confirm it on a device.
        find: what it points at, in any order; empty where the source does not say it plainly.
        standing: a *hint* belongs to the record of every audit; *advice* speaks of what sound kernels do as well,
            or may do without under the conditions they were measured in, and is shown on request.
        precise: speaks of lower precision, and so only where none was declared.
    """

    name: str
    doc: str | None
    confirm_with: str
    find: Callable[[Reading], Iterable[Spot]]
    standing: Standing = "hint"
    precise: bool = False

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
    confirm_with: str, *, standing: Standing = "hint", precise: bool = False
) -> Callable[[Callable[[Reading], Iterable[Spot]]], Rule[Reading]]:
    """Make a rule of a function, which gives it its name and its docstring; arguments as for `Rule`."""
    return lambda find: Rule(find.__name__, find.__doc__, confirm_with, find, standing, precise)
