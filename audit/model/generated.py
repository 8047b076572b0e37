"""A repair that the audit generated: one change of the claimed source, so that a reader can make the file again."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from audit.model.base import Frozen
from audit.model.claim import Variant

FOLDER = "generated"
"""The folder of generated sources, in that of the results and in a bundle."""
MOST_LINES, MOST_CHARACTERS = 8, 400
"""Of one change, and of a line in it."""
MOST_REPAIRS = 3
"""Generated for one claim."""
Lines = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^\n]*$", max_length=MOST_CHARACTERS)], ...], Field(max_length=MOST_LINES)
]


class Change(Frozen):
    """One change of whole lines: `removed` stood from `line` on, `added` stands there instead.

    `what` names the change in a few words, such as "2-D grid".
    """

    what: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    line: Annotated[int, Field(gt=0)]
    removed: Lines
    added: Lines

    def applied(self, text: str) -> str:
        """Return the changed source. Raises ValueError where the removed lines do not stand there."""
        lines = text.split("\n")
        first, past = self.line - 1, self.line - 1 + len(self.removed)
        if tuple(lines[first:past]) != self.removed or past > len(lines):
            raise ValueError(f"line {self.line}: the source has other lines there than the change")
        return "\n".join([*lines[:first], *self.added, *lines[past:]])


class GeneratedRepair(Frozen):
    """A variant that the audit generated from the claimed kernel; its hash is that of the changed source."""

    variant: Variant
    change: Change


def replaced(text: str, start: int, end: int, new: str, *, what: str) -> list[Change]:
    """Return the change of a source between two offsets; none where its lines are too long or too many to show."""
    first, past = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    past = len(text) if past < 0 else past
    changed = text[first:start] + new + text[end:past]
    return _shown(text.count("\n", 0, start) + 1, text[first:past].split("\n"), changed.split("\n"), what)


def inserted(line: int, added: str, *, what: str) -> list[Change]:
    """Return the change that puts a line before the one of that number; none where it is too long to show."""
    return _shown(line, [], [added], what)


def _shown(line: int, removed: list[str], added: list[str], what: str) -> list[Change]:
    short = all(len(one) <= MOST_CHARACTERS for one in (*removed, *added))
    readable = all(one.replace("\t", "").rstrip("\r").isprintable() for one in (*removed, *added))
    shown = short and readable and max(len(removed), len(added)) <= MOST_LINES
    return [Change(what=what, line=line, removed=tuple(removed), added=tuple(added))] if shown else []
