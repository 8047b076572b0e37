"""Is the result right whether the claim or the reference runs first, each order in a fresh process?

Freed blocks keep their contents and go to the next request of their size, as with a caching allocator. "Right" only
after the reference means that the result was inherited, not computed.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.called import Call, Mode, Run, value_calls
from audit.probes.compare import Comparison
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "order"
MECHANISMS = ("stale memory", "right only after the reference", "heap scan for the reference")


REUSE = Mode("reuse")


def claim_first_session(target: Target) -> list[Call]:
    """The claim, the reference, random values planted in freed blocks, and the claim again, at the largest case."""
    runs: list[Run] = ["claim", "reference", "plant", "claim"]
    return target.once("claim first", lambda: target.session(runs, target.largest, REUSE, fresh=True))


def run(target: Target) -> Finding:
    """Two sessions at the largest case."""
    case = target.largest
    claim, other, *_ = claim_first_session(target)
    value_calls([claim, other], [case.expected] * 2)
    claim_first = target.compared(claim, case)
    reference, late = target.session(["reference", "claim"], case, REUSE, fresh=True)
    value_calls([reference, late], [case.expected] * 2)
    reference_first = target.compared(late, case)
    same = late.same_bits(reference)
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "claim_first": claim_first.evidence(),
        "reference_first": {**reference_first.evidence(), "difference_zero": same},
    }
    text = f"{case.label}: {_sentence(claim_first, reference_first, same=same)}"
    if claim_first.right and reference_first.right:
        return answer(NAME, target, "pass", text, evidence=evidence)
    grade: Grade = "undefined" if undefined_beside(target, case) else "proved"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)


def _sentence(claim_first: Comparison, reference_first: Comparison, *, same: bool) -> str:
    if claim_first.right and reference_first.right:
        return "right in both orders"
    if claim_first.right or reference_first.right:
        lucky, other = ("claim", reference_first) if claim_first.right else ("reference", claim_first)
        zero = ", there with difference exactly 0 to the reference" if same and lucky == "reference" else ""
        return f'wrong in one order ({other.sentence()}), "right" when the {lucky} runs first{zero}'
    return f"wrong in both orders ({claim_first.sentence()})"
