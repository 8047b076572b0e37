"""Is the result right whether the claim or the reference runs first, each order in a fresh process?

Freed blocks keep their contents and go to the next request of their size, as with a caching allocator. A result that is
right only after the reference was inherited, not computed.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.compare import sentence
from audit.probes.concluding.undefined import undefined_beside
from audit.probes.observing.called import Call, Mode, value_calls
from audit.probes.observing.target import Target

NAME = "order"
REUSE = Mode("reuse")


def claim_first_session(target: Target) -> list[Call]:
    """Call at the largest case: the claim, the reference, `plant`, the claim, `spoiled` (its result with random values
    in a few elements, freed then), and the claim again; see `audit.run.messages.requests.Step`. On a GPU with the
    kernels of each call, for `first_call`."""
    runs = ({"run": "claim"}, {"run": "reference"}, {"run": "plant"}, {"run": "claim", "hold": True},
            {"run": "spoiled", "of": 3}, {"run": "claim"})  # fmt: skip
    plan = [{**step, "case": 0} for step in runs]
    mode = REUSE if target.built.tensor_device == "cpu" else Mode(target.built.traced_memory)
    return target.once("claim first", lambda: target.steps(plan, cases=[target.largest], mode=mode, fresh=True))


def observe(target: Target) -> Observed:
    """Compare two sessions at the largest case."""
    case = target.largest
    claim, other, *_ = claim_first_session(target)
    value_calls([claim, other], [case.expected] * 2)
    claim_first = target.compared(claim, case)
    reference, late = target.session(["reference", "claim"], case, REUSE, fresh=True)
    value_calls([reference, late], [case.expected] * 2)
    reference_first = target.compared(late, case)
    right = claim_first.right and reference_first.right
    return {
        "shape": dict(case.shape),
        "claim_first": claim_first.evidence(),
        "reference_first": {**reference_first.evidence(), "difference_zero": late.same_bits(reference)},
        **({} if right else {"undefined": undefined_beside(target, case)}),
    }


def conclude(seen: Observed) -> Answer:
    """Pass where the result is right in both orders."""
    shape, claim_first, reference_first = label(seen["shape"]), seen["claim_first"], seen["reference_first"]
    if claim_first["right"] and reference_first["right"]:
        return passed(f"{shape}: right in both orders")
    grade = grade_beside(seen["undefined"])
    if not claim_first["right"] and not reference_first["right"]:
        return failed(f"{shape}: wrong in both orders ({sentence(claim_first)})", grade)
    lucky, other = ("claim", reference_first) if claim_first["right"] else ("reference", claim_first)
    same = lucky == "reference" and reference_first["difference_zero"]
    zero = ", there with difference exactly 0 to the reference" if same else ""
    text = f'wrong in one order ({sentence(other)}), "right" when the {lucky} runs first{zero}'
    return failed(f"{shape}: {text}", grade)
