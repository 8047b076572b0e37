"""Derive a finding from observations, without running code: `audit verify` derives findings from records.

A probe makes calls in `observe` and concludes by the pure function `conclude`. The observations are the finding's
evidence, so the record has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from audit.model import Finding, Grade, Outcome, Shape
from audit.model.base import bounded

if TYPE_CHECKING:
    from audit.probes.observing.target import Target

Observed = dict[str, Any]
"""The observations of a probe, as JSON values. `shape` has the sizes of their case."""
CHANNEL = "channel"
"""The probe of findings about messages of a session, see `not_sent`."""
NOT_ASKED, NOT_CLAIMED, NOT_CONCLUDED = "not_asked", "beside_claimed", "not_concluded"
OTHER_LAUNCHES = "other_launches"
OF_PROBE, CHOSEN = "of_this_probe", "chosen"
AT_NONE = "at none of the claim's"
"""Part of a failure at a size that the kit chose, where its probe asked at no shape of the claim."""
FIRST_WRONG, UNSTEADY, TOO_LARGE, UNREAD = "first_wrong", "unsteady", "too_large", "unread"
REASONS = {
    FIRST_WRONG: "the first call is already wrong; see agreement",
    UNSTEADY: "the first call is wrong in this process and right in another; see repeat",
    TOO_LARGE: "too large for many calls; a smaller shape in `others` would be asked",
    UNREAD: "the reference's result depends on none of the elements that were replaced",
}
"""Why a probe made no further call, by the value of `not_asked` in its evidence."""


class Answer(NamedTuple):
    """A conclusion from observations.

    Attributes:
        outcome: error where the observations do not answer the question.
        summary: one sentence with the numbers.
        grade: the grade of a failure.
        shape: the shape that fails, where it is not `shape` of the evidence.
        line: a line of the source.
        anywhere: whether the failure is independent of sizes, so that it counts at shapes beyond the claim too.
        claimed: whether the claim covers the failure.
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

    def observe(self, target: Target, /) -> Observed:
        """Make calls and return the observations. Raises AuditError where there is no answer."""

    def conclude(self, seen: Observed, /) -> Answer:
        """Return the answer; a pure function."""


def passed(summary: str) -> Answer:
    """Return a pass."""
    return Answer("pass", summary)


def failed(
    summary: str,
    grade: Grade = "proved",
    *,
    shape: Shape | None = None,
    line: int | None = None,
    anywhere: bool = False,
) -> Answer:
    """Return a failure, see `Answer`."""
    return Answer("fail", summary, grade, shape, line, anywhere)


def skipped(summary: str) -> Answer:
    """Return a skip: the question has no answer here."""
    return Answer("skip", summary)


def label(shape: Shape) -> str:
    """Return a shape in words: `N=33, M=7`."""
    return ", ".join(f"{name}={size}" for name, size in shape.items())


def grade_beside(undefined: str | None) -> Grade:
    """Return the grade of a wrong value beside that undefined behaviour, or beside none."""
    return "undefined" if undefined else "proved"


def ask(probe: Probe, target: Target) -> Finding:
    """Return the finding of a probe about a target. Raises the exceptions of `observe`."""
    seen, name = probe.observe(target), target.variant.name
    found = finding(probe.NAME, name, seen, probe.conclude)
    case = next((case for case in target.cases if case.shape == found.shape), None)
    if case is None or case.counts or not found.claimed or _answer(found.evidence, probe.conclude).anywhere:
        return found
    beside_claimed = any(one.counts for one in target.cases)
    why = {} if case.launches is None else {OTHER_LAUNCHES: case.launches}
    outside = {NOT_CLAIMED: beside_claimed, OF_PROBE: True, CHOSEN: True}
    return finding(probe.NAME, name, seen | outside | why, probe.conclude)


def finding(probe: str, target: str, seen: Observed, conclude: Callable[[Observed], Answer]) -> Finding:
    """Return the finding that follows from the observations of a probe.

    `beside_claimed` among them is there if the failing shape is outside the claim, so that the claim does not fail; it
    says whether a shape of the claim was asked too, in newer records by this probe alone (`of_this_probe`), at a shape
    that the kit chose (`chosen`). `other_launches` has the launches there and at the claimed shape, if that is why.
    `not_concluded` says why a failure does not count.
    """
    evidence: Observed = bounded(seen)
    answer = _answer(evidence, conclude)
    other, why = evidence.get(NOT_CLAIMED), evidence.get(NOT_CONCLUDED)
    summary = answer.summary + _launched(evidence.get(OTHER_LAUNCHES))
    found = Finding(
        probe=probe,
        target=target,
        outcome=answer.outcome,
        summary=answer.summary if other is None else _not_claimed(summary, evidence),
        grade=answer.grade,
        evidence=evidence,
        line=answer.line,
        shape=(answer.shape or seen.get("shape")) if answer.outcome == "fail" else None,
        claimed=other is None and answer.claimed,
    )
    return found if why is None else not_concluded(found, why)


def not_sent(target: str, seen: Sequence[str]) -> Finding:
    """Return the finding about a variant, or a claim, with sessions that have messages which the kit's own code did not
    send, one sentence each: an error, since a crash may write garbage too."""
    sentence = f"messages of a session that its own code did not send ({len(seen)}x): {seen[0]}"
    text = f"{sentence}; nothing of such a session counts"
    return Finding(probe=CHANNEL, target=target, outcome="error", summary=text, evidence={"seen": [*seen]})


def not_concluded(found: Finding, why: str) -> Finding:
    """Return a failure as an error, from which nothing follows."""
    return found.model_copy(
        update={
            "outcome": "error",
            "grade": None,
            "summary": f"{found.summary} - {why}; nothing is concluded",
            "evidence": {**found.evidence, NOT_CONCLUDED: why},
        }
    )


def _answer(seen: Observed, conclude: Callable[[Observed], Answer]) -> Answer:
    reason = seen.get(NOT_ASKED)
    return conclude(seen) if reason is None else skipped(f"not asked: {label(seen['shape'])}: {REASONS[reason]}")


def _not_claimed(summary: str, seen: Observed) -> str:
    if seen[NOT_CLAIMED]:
        return f"right at the claimed shapes as far as asked; wrong at {summary}; that shape is not claimed"
    if seen.get(CHOSEN):
        return f"{summary}; the kit chose this size, and this probe asked {AT_NONE}"
    if seen.get(OF_PROBE):  # others may have asked there, as those of single blocks do
        return f"{summary}; the claim does not speak of this shape, and this probe asked at none that it speaks of"
    return f"{summary}; the claim does not speak of this shape, and none that it speaks of was asked"


def _launched(other: Observed | None) -> str:
    if other is None:
        return ""
    here, claimed = (", ".join(map(_blocks, other[where])) for where in ("here", "claimed"))
    return f"; launched here: {here or 'nothing'}; at the claimed shape: {claimed}"


def _blocks(launch: Observed) -> str:
    return f"{launch['kernel']} with blocks of {' x '.join(map(str, launch['block']))} threads"
