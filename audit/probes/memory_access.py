"""Does a kernel read unwritten memory, touch memory outside its tensors, race, or misuse barriers and lanes?

Every access is checked. Out of bounds is proved. A race, a misuse of barriers and lanes, and a read of what nothing has
written are undefined behaviour, also where the values came out right; `undefined` says what counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from audit.model import Finding
from audit.model.errors import Unsupported
from audit.probes import second_prover
from audit.probes.answer import answer
from audit.probes.called import Case, Need, counting
from audit.probes.target import Target
from audit.probes.undefined import Checked, checked, checking

NAME = "memory_access"
MECHANISMS = ("out-of-bounds access", "missing bounds", "race", "never-initialised read", "misuse of warp lanes")


def needs(target: Target) -> Iterator[Need]:
    """The middle case on the emulated device; on a GPU a checked call takes a minute, and no other waits for it."""
    if target.built.checks_accesses and target.built.tensor_device == "cpu":
        yield checking(target), target.middle


def run(target: Target) -> Finding:
    """One checked call at the middle case; on a GPU, where checking takes longer, at the smaller of two."""
    if not target.built.checks_accesses:
        raise Unsupported("checks of every memory access")
    case = target.middle if target.built.tensor_device == "cpu" else smaller(target)
    found = checked(target, case)
    seen, proofs = second_prover.beside(target, found)
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "reports": [one.evidence() for one in seen],
        "fills": found.fills,
        "most_writes": found.most_writes,
        **proofs,
    }
    if not seen:
        return _nothing(target, case, found, evidence)
    worst = seen[0]
    evidence |= {"kind": worst.kind, "line": worst.line, "proof": worst.proof}
    text = f"{case.label}: {worst.sentence()}"
    if found.fills and worst.grade == "hint":
        text += f"; the result is the same, bit for bit, whatever was there ({found.fills} fills)"
    return answer(NAME, target, "fail", text, grade=worst.grade, evidence=evidence, line=worst.line)


def smaller(target: Target) -> Case:
    """The middle case, the smaller one of two."""
    by_size = counting(target.cases)
    return by_size[(len(by_size) - 1) // 2]


def _nothing(target: Target, case: Case, found: Checked, evidence: dict[str, JsonValue]) -> Finding:
    if not found.unanswered:
        return answer(NAME, target, "pass", f"{case.label}: no undefined access", evidence=evidence)
    tools = ", ".join(found.unanswered)
    text = f"{case.label}: nothing was seen, but not every tool gave an answer in time ({tools})"
    return answer(NAME, target, "skip", text, evidence=evidence)
