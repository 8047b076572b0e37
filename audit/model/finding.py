"""A finding: the result of one probe, rule or check about one variant or about the claim itself.

Of findings an audit makes repairs: one change of the claimed source each, so that a reader can make the file again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from audit.model.base import Frozen, bounded, readable
from audit.model.claim import Shape, Variant

Outcome = Literal["pass", "fail", "skip", "error"]
Grade = Literal["proved", "undefined", "hint"]
DeviceKind = Literal["emulated", "cuda"]
Text = Annotated[str, BeforeValidator(readable)]
Evidence = Annotated[dict[str, JsonValue], BeforeValidator(bounded)]


class Finding(Frozen):
    """One answer to one question.

    `outcome` skip and error pass no variant. `grade` belongs to a failure: only *proved* fails a variant; *undefined*
    is undefined behaviour that happened to work; *hint* is a reading of the source or an observation that good kernels
    share. `evidence` holds the numbers of the summary, NaN and infinities as text. `confirmed` tells whether a second
    build at another optimisation level showed the same (None: not applicable). `device` is what gave the answer, where
    something ran. `shape` is the one that shows a failure. `claimed` is False for a failure outside the claim: at a
    shape, or for inputs, that the claim does not speak of; it never fails the claim.
    """

    probe: str
    target: str
    outcome: Outcome
    summary: Text
    grade: Grade | None = None
    evidence: Evidence = Field(default_factory=dict)
    line: int | None = None
    confirmed: bool | None = None
    reproduce_with: str | None = None
    seconds: float | None = None
    device: DeviceKind | None = None
    shape: Shape | None = None
    claimed: bool = True

    @model_validator(mode="after")
    def _grade_belongs_to_failure(self) -> Finding:
        if (self.outcome == "fail") != (self.grade is not None):
            raise ValueError(f"{self.probe}: a failure has a grade and nothing else has one")
        return self

    @property
    def fails_kernel(self) -> bool:
        """True for a proved failure at what the claim speaks of."""
        return self.outcome == "fail" and self.grade == "proved" and self.claimed


GENERATED = "generated"
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
