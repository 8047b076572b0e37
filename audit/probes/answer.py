"""From what a probe observed to its finding. Nothing here runs anything: `audit verify` derives findings from records.

A probe observes (`observe`, which makes calls) and concludes (`conclude`, a pure function of what was observed). The
observations are the finding's evidence, so they stand in the record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from audit.model import Finding, Grade, Outcome, Shape
from audit.model.base import bounded

if TYPE_CHECKING:
    from audit.probes.target import Target

Seen = dict[str, Any]
"""What a probe observed, as JSON has it. `shape` names the sizes of the case it speaks of."""
NOT_ASKED, NOT_CLAIMED, NOT_CONCLUDED = "not_asked", "beside_claimed", "not_concluded"
FIRST_WRONG, TOO_LARGE = "first_wrong", "too_large"
REASONS = {
    FIRST_WRONG: "the first call is already wrong; see agreement",
    TOO_LARGE: "too large for many calls; a smaller shape in `others` would be asked",
}
"""Why a probe made no further call, by what stands in its evidence under `not_asked`."""


class Answer(NamedTuple):
    """What follows from observations.

    Attributes:
        outcome: of the question; error where what was seen answers it neither way.
        summary: one sentence with the numbers.
        grade: of a failure.
        shape: at which it fails, where it is not `shape` of the evidence.
        line: of the source.
        anywhere: whether the failure has nothing to do with sizes, and counts also at shapes that the claim does not
            speak of.
        claimed: whether the claim speaks of what fails.
    """

    outcome: Outcome
    summary: str
    grade: Grade | None = None
    shape: Shape | None = None
    line: int | None = None
    anywhere: bool = False
    claimed: bool = True


class Probe(Protocol):
    """A module of this folder."""

    NAME: str

    @property
    def MECHANISMS(self) -> tuple[str, ...]:  # noqa: N802
        """The ways to a false result that it shows, for docs/probes.md."""

    def observe(self, target: Target, /) -> Seen:
        """Make calls and return what was seen. Raises AuditError where there is no answer."""

    def conclude(self, seen: Seen, /) -> Answer:
        """What follows; a pure function."""


def passed(summary: str) -> Answer:
    """Nothing is wrong."""
    return Answer("pass", summary)


def failed(
    summary: str,
    grade: Grade = "proved",
    *,
    shape: Shape | None = None,
    line: int | None = None,
    anywhere: bool = False,
) -> Answer:
    """Something is wrong, see `Answer`."""
    return Answer("fail", summary, grade, shape, line, anywhere)


def skipped(summary: str) -> Answer:
    """The question has no answer here, and that stands in nobody's way."""
    return Answer("skip", summary)


def label(shape: Shape) -> str:
    """For people: `N=33, M=7`."""
    return ", ".join(f"{name}={size}" for name, size in shape.items())


def beside(undefined: str | None) -> Grade:
    """The grade of a wrong value beside that undefined behaviour, or beside none."""
    return "undefined" if undefined else "proved"


def ask(probe: Probe, target: Target) -> Finding:
    """The finding of a probe about a target. Raises what `observe` raises."""
    seen, name = probe.observe(target), target.variant.name
    found = finding(probe.NAME, name, seen, probe.conclude)
    case = next((case for case in target.cases if case.shape == found.shape), None)
    if case is None or case.counts or _answer(found.evidence, probe.conclude).anywhere:
        return found
    beside_claimed = any(one.counts for one in target.cases)
    return finding(probe.NAME, name, seen | {NOT_CLAIMED: beside_claimed}, probe.conclude)


def finding(probe: str, target: str, seen: Seen, conclude: Callable[[Seen], Answer]) -> Finding:
    """The finding that follows from observations.

    Args:
        probe: the name of the question.
        target: the name of what was asked.
        seen: the observations. Where the claim does not speak of the shape that fails, they say under `beside_claimed`
            whether a shape that it speaks of was asked too: the failure is then none against the claim. Under
            `not_concluded` they say why a failure counts as none.
        conclude: the probe's.
    """
    evidence: Seen = bounded(seen)
    answer = _answer(evidence, conclude)
    other, why = evidence.get(NOT_CLAIMED), evidence.get(NOT_CONCLUDED)
    found = Finding(
        probe=probe,
        target=target,
        outcome=answer.outcome,
        summary=answer.summary if other is None else _not_claimed(answer.summary, beside_claimed=other),
        grade=answer.grade,
        evidence=evidence,
        line=answer.line,
        shape=(answer.shape or seen.get("shape")) if answer.outcome == "fail" else None,
        claimed=other is None and answer.claimed,
    )
    return found if why is None else not_concluded(found, why)


def not_concluded(found: Finding, why: str) -> Finding:
    """A failure from which nothing follows: an error."""
    return found.model_copy(
        update={
            "outcome": "error",
            "grade": None,
            "summary": f"{found.summary} - {why}; nothing is concluded",
            "evidence": {**found.evidence, NOT_CONCLUDED: why},
        }
    )


def _answer(seen: Seen, conclude: Callable[[Seen], Answer]) -> Answer:
    reason = seen.get(NOT_ASKED)
    return conclude(seen) if reason is None else skipped(f"not asked: {label(seen['shape'])}: {REASONS[reason]}")


def _not_claimed(summary: str, *, beside_claimed: bool) -> str:
    if beside_claimed:
        return f"right at the claimed shapes as far as asked; wrong at {summary}; that shape is not claimed"
    return f"{summary}; the claim does not speak of this shape, and none that it speaks of was asked"
