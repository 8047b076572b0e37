"""The judge: a pure function of the record. Only proof fails a claim; skip and error never pass one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from audit.judge import verdicts
from audit.judge.answers import BASELINE, MARGIN, Answers, answered
from audit.judge.ladder import AblationRow, ablation_table, ladder
from audit.model import SCHEMA, Record, Verdict, VerdictName, store
from audit.model.record import RatioState, ResultState, TaskState

__all__ = ["BASELINE", "RULES", "AblationRow", "ablation_table", "as_judged_now", "judge", "ladder", "opened"]


@dataclass(frozen=True)
class Rule:
    """One rule: it gives the headline `verdict` where one of the three answers has a state; `when` is that in words."""

    name: str
    verdict: VerdictName
    answer: Literal["result", "task", "ratio"]
    state: ResultState | TaskState | RatioState
    when: str

    def holds(self, answers: Answers) -> bool:
        """Return whether that answer has that state."""
        return bool(getattr(answers, self.answer).state == self.state)


def judge(record: Record) -> Verdict:
    """Return the verdict that the record supports, with the headline of the first rule that holds."""
    claimed = record.claim.statement.claimed
    if claimed is None:
        return verdicts.unanswerable("the claim folder has no variant of role claimed")
    answers = answered(record, claimed)
    return verdicts.worded(next(rule.verdict for rule in RULES if rule.holds(answers)), answers)


def as_judged_now(record: Record) -> Record:
    """Return a finished record of an older schema with verdict and ladder derived from its findings by these rules. The
    verdict keeps its published headline. Any other record is returned as it is."""
    if record.schema_ >= SCHEMA or record.verdict.name == "incomplete":
        return record
    verdict = judge(record).model_copy(update={"first_judged": record.verdict.name})
    rungs = ladder(record.claim.statement, record.findings, record.measurements)
    return record.model_copy(update={"verdict": verdict, "ladder": rungs})


def opened(path: Path) -> Record:
    """Return the record in `path`, judged by these rules. Raises BadInput as `store.read`."""
    return as_judged_now(store.read(path))


RULES = (
    Rule("proved wrong", "wrong", "result", "wrong",
         "a probe proved the result wrong at what the claim speaks of, or a timed call's output"),
    Rule("no compiler takes it", "cannot be built", "result", "cannot be built",
         "the claimed source does not compile, by nvcc or torch's extension builder"),
    Rule("undefined behaviour", "undefined", "result", "undefined",
         "a probe proved a race, a misuse or a read of what nobody wrote, whatever values came out"),
    Rule("memory of another", "aliased result", "result", "aliased result",
         "right when the call returns, but in the memory of an input, or in memory that a later call overwrites"),
    Rule("the task cannot tell", "vacuous", "task", "cannot tell",
         "a trivial candidate passes the task at its own tolerance"),
    Rule("an answer is missing", "undecided", "result", "open",
         "the build failed, a probe that must answer was not asked or skipped, or any probe ended in an error, such as "
         "a task that fails its own reference; the report names each"),
    Rule("fewer bits than declared", "reduced precision", "result", "reduced precision",
         "within the tolerance, but a probe proved that it computes with a lower precision than it declares"),
    Rule("the time of something else", "mistimed", "ratio", "mistimed",
         "right, but it replaced clocks, checks or hooks of its process, its stream does not wait for its work, or a "
         "published time is under what the fastest unit of the GPU it names allows"),
    Rule("others did the work", "overstated", "ratio", "not its own",
         "right, but none of the source's own kernels ran"),
    Rule("the ratio is reached", "confirmed", "ratio", "reached",
         f"right, and the ratio to the strongest baseline of its precision class reaches {1 - MARGIN:.0%} of the "
         "published one with its whole 95 % interval"),
    Rule("against the named baseline alone", "weak baseline", "ratio", "weak baseline",
         "right, and that ratio stays below with all of its interval, but the ratio to the named baseline reaches it"),
    Rule("the ratio is not reached", "overstated", "ratio", "not reached",
         "right, and neither ratio reaches it"),
    Rule("the ratio stays open", "undecided", "ratio", "open",
         "right, and its samples cannot tell, or a hint of the source waits for a device that can answer it"),
    Rule("right, without a time", "no defect found", "result", "right",
         "right, and no time was taken on a GPU the claim names"),
)  # fmt: skip
"""In the order they are tried. The last holds for all remaining records: a right result without a measured ratio."""
