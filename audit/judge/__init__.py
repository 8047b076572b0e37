"""The judge stage: a pure function of the record. Only proof fails a claim; skip and error never pass one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from audit.judge import verdicts
from audit.judge.answers import BASELINE, MARGIN, Answers, answered
from audit.judge.ladder import AblationRow, ablation_table, ladder
from audit.model import SCHEMA, Record, Verdict, VerdictName, store

__all__ = [
    "BASELINE",
    "RULES",
    "AblationRow",
    "ablation_table",
    "as_judged_now",
    "judge",
    "ladder",
    "opened",
]


@dataclass(frozen=True)
class Rule:
    """One rule: its headline, when it gives it, in words, and whether it does."""

    name: str
    verdict: VerdictName
    when: str
    holds: Callable[[Answers], bool]


def judge(record: Record) -> Verdict:
    """The verdict the findings and measurements of the record support: the headline of the first rule that holds."""
    claimed = record.claim.statement.claimed
    if claimed is None:
        return verdicts.unanswerable("the claim folder has no variant of role claimed")
    answers = answered(record, claimed)
    return verdicts.worded(next(rule.verdict for rule in RULES if rule.holds(answers)), answers)


def as_judged_now(record: Record) -> Record:
    """A finished record of an older schema with verdict and ladder derived from its findings by these rules.

    The verdict keeps the headline it was published with. Any other record is returned as it is.
    """
    if record.schema_ >= SCHEMA or record.verdict.name == "incomplete":
        return record
    verdict = judge(record).model_copy(update={"first_judged": record.verdict.name})
    rungs = ladder(record.claim.statement, record.findings, record.measurements)
    return record.model_copy(update={"verdict": verdict, "ladder": rungs})


def opened(path: Path) -> Record:
    """The record in `path`, judged by these rules. Raises BadInput as `store.read`."""
    return as_judged_now(store.read(path))


RULES: tuple[Rule, ...] = (
    Rule(
        "proved wrong",
        "wrong",
        "a probe proved the result wrong at what the claim speaks of, or a timed call's output",
        lambda answers: answers.result.state == "wrong",
    ),
    Rule(
        "no compiler takes it",
        "cannot be built",
        "the claimed source does not compile, by nvcc or torch's extension builder",
        lambda answers: answers.result.state == "cannot be built",
    ),
    Rule(
        "undefined behaviour",
        "undefined",
        "a probe proved a race, a misuse or a read of what nobody wrote, whatever values came out",
        lambda answers: answers.result.state == "undefined",
    ),
    Rule(
        "the task cannot tell",
        "vacuous",
        "a trivial candidate passes the task at its own tolerance",
        lambda answers: answers.task.state == "cannot tell",
    ),
    Rule(
        "an answer is missing",
        "undecided",
        "the build failed, a probe that must answer was not asked or skipped, or any probe ended in an error, such as "
        "a task that fails its own reference; the report names each",
        lambda answers: answers.result.state == "open",
    ),
    Rule(
        "fewer bits than declared",
        "reduced precision",
        "within the tolerance, but a probe proved that it computes with a lower precision than it declares",
        lambda answers: answers.result.state == "reduced precision",
    ),
    Rule(
        "the time of something else",
        "mistimed",
        "right, but it replaced clocks, checks or hooks of its process, its stream does not wait for its work, or a "
        "published time is under what the fastest unit of the GPU it names allows",
        lambda answers: answers.ratio.state == "mistimed",
    ),
    Rule(
        "others did the work",
        "overstated",
        "right, but none of the source's own kernels ran",
        lambda answers: answers.ratio.state == "not its own",
    ),
    Rule(
        "the ratio is reached",
        "confirmed",
        f"right, and the ratio to the strongest baseline of its precision class reaches {1 - MARGIN:.0%} of the "
        "published one with its whole 95 % interval",
        lambda answers: answers.ratio.state == "reached",
    ),
    Rule(
        "against the named baseline alone",
        "weak baseline",
        "right, and that ratio stays below with all of its interval, but the ratio to the named baseline reaches it",
        lambda answers: answers.ratio.state == "weak baseline",
    ),
    Rule(
        "the ratio is not reached",
        "overstated",
        "right, and neither ratio reaches it",
        lambda answers: answers.ratio.state == "not reached",
    ),
    Rule(
        "the ratio stays open",
        "undecided",
        "right, and its samples cannot tell, or a hint of the source waits for a device that can answer it",
        lambda answers: answers.ratio.state == "open",
    ),
    Rule(
        "right, without a time",
        "no defect found",
        "right, and no time was taken on a GPU the claim names",
        lambda _: True,
    ),
)
"""In the order they are tried; the last always gives a verdict."""
