"""Do many calls of one process all give the right result, the last ones like the first?

Their number is unknown before the audit. In the second half several contents alternate at one address and memory is
overwritten before each call, as a timer does. Results that differ in their last bits, as sums in the order of
arrival do, are reported and fail no kernel; a result outside the tolerance is wrong. Contents that were wrong at first
are left to `distributions`, which tests whether rounding explains them.

A later call with inputs of the same sizes that returns other shapes, or another number of tensors, than the first is
wrong too.

A plain first call that is right in one process and wrong in another is wrong by this probe: what it returns depends on
time, or on memory that it does not write.

The emulated device also makes hundreds of calls whose launches run no block, which takes little time, and then one that
runs all; the clocks of host code stand still meanwhile, as if calls followed one another at once. A wrong result there
counts only if it is also wrong after as many calls that run all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from audit.build.settings import QUICK
from audit.model.errors import AuditError
from audit.probes.claimed_launches import reads_back
from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.compare import Comparison, sentence
from audit.probes.concluding.undefined import undefined_beside
from audit.probes.kernels_ran import without_blocks
from audit.probes.observing.battery import AFTER, REPEAT, at_largest, at_middle, premise, unsteady
from audit.probes.observing.called import Mode
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import wanted

NAME, DISTRIBUTIONS = "repeat", "distributions"
FEWEST_MANY, MORE_MANY, TURNS = 20, 8, 12
"""Calls that run no block, in units of TURNS, a multiple of the number of buffers that claimed code may rotate."""
ANOTHER = "that of another process"


def observe(target: Target) -> Observed:
    """Compare 24 to 256 calls with alternating contents, the last half as in a timer, then one with each content."""
    asked = at_middle(target)
    if (changed := _of_another_shape(asked)) is not None:
        return changed
    if (first := _unsteady(target, asked["first"])) is not None:
        wrong = {"shape": dict(first.case.shape), "call": ANOTHER, **first.compared(target).evidence()}
        undefined = undefined_beside(target, first.case)
        return {"shape": wrong["shape"], "shapes": [wrong], "calls": 0, "differing": [], "undefined": undefined}
    if (skipped := premise(target, asked["first"])) is not None:
        return skipped
    repeated = asked[REPEAT]
    case, order = asked["first"].case, repeated.order
    others = (one for one in asked.values() if one.group == DISTRIBUTIONS)
    left = {one.case.inputs for one in others if one.call.raised is not None or not one.compared(target).right}
    checks = {} if repeated.case.inputs in left else {"a repeated call": repeated.compared(target)}
    for name, one in asked.items():
        if name.startswith((f"{REPEAT}_", AFTER)) and one.case.inputs not in left:
            checks[_words(name, one, case)] = one.compared(target)
    right = all(comparison.right for comparison in checks.values())
    after = _after_many(target, case) if right else None
    return {
        "shape": dict(case.shape),
        "calls": len(order),
        "contents": len(set(order)),
        "differing": list(repeated.call.event.get("differing") or []),
        "shapes": [{"shape": dict(case.shape), "call": what, **one.evidence()} for what, one in checks.items()],
        **({} if after is None else {"after_many": after}),
        **({} if right and (after is None or after["right"]) else {"undefined": undefined_beside(target, case)}),
    }


def conclude(seen: Observed) -> Answer:
    """Fail at the first call that is wrong though the very first was right."""
    if "later" in seen:
        text = f"the first call returns {seen['first']}, a later one with inputs of that shape {seen['later']}"
        return failed(f"{label(seen['shape'])}: {text}")
    shape, calls, differing = label(seen["shape"]), seen["calls"], len(seen["differing"])
    wrong = next((one for one in seen["shapes"] if not one["right"]), None)
    after = seen.get("after_many")
    if wrong is None and after and not after["right"]:
        text = f"{shape}: the first call is right, behind {after['calls']} more {sentence(after)}"
        return failed(text, grade_beside(seen["undefined"]))
    if wrong is None:
        bits = f"; {differing} differ from the first in their last bits" if differing else ", bit for bit the same"
        behind = f"; right behind {after['calls']} more that run no block" if after else ""
        return passed(f"{shape}: {calls} calls right{bits}{behind}")
    text = f"{wrong['call']}: {sentence(wrong)}"
    if wrong["call"] == ANOTHER:
        return failed(f"{shape}: the first call of one process is right, {text}", grade_beside(seen["undefined"]))
    return failed(f"{shape}: the first call is right, of {calls} more {text}", grade_beside(seen["undefined"]))


def _of_another_shape(asked: Mapping[str, Asked]) -> Observed | None:
    """Return the evidence that the first call returns the right shapes and a later one, with inputs that the claim
    draws, others; None where none does."""
    first = asked["first"]
    drawn = {first.case.inputs, *(one.case.inputs for one in asked.values() if one.group == "other")}
    ended = [one for one in asked.values() if one.case.inputs in drawn and one.call.raised is None]
    later = next((one for one in ended if not one.call.returns(one.case.expected)), None)
    if later is None or not first.call.returns(first.case.expected):
        return None
    return {"shape": dict(first.case.shape), "first": first.call.returned, "later": later.call.returned}


def _unsteady(target: Target, middle: Asked) -> Asked | None:
    """Return the first call of a session that is wrong there and right in another process."""
    if unsteady(target, middle):
        return middle
    with suppress(AuditError):
        largest = at_largest(target)["first"]
        return largest if unsteady(target, largest) else None
    return None


def _after_many(target: Target, case: Case) -> Observed | None:
    """Return the evidence about a call after hundreds of others; None where that cannot be asked."""
    mode = without_blocks(target)
    if mode is None or reads_back(target):
        return None
    many = TURNS * (FEWEST_MANY + case.seed % MORE_MANY)
    try:
        (other, *_) = (one.case for one in wanted(target).middle.of("other"))
        found = _behind(target, [case, other], many, mode)
        if not found.right:
            found = _behind(target, [case, other], many, target.plain._replace(order=QUICK))
    except AuditError:
        return None
    return {"calls": many, **found.evidence()}


def _behind(target: Target, cases: Sequence[Case], many: int, mode: Mode) -> Comparison:
    """Compare a call with other values, after a plain one and `many` calls in that mode with the first values."""
    plan = [
        {"run": "claim", "case": 0},
        {"run": "claim", "case": 0, "into": 0, "order": [0] * many, "flush_from": many, "mode": 1},
        {"run": "claim", "case": 1, "into": 0, "mode": 0},
    ]
    quick = target.plain._replace(order=QUICK)
    *_, last = target.steps(plan, cases=cases, mode=quick, more_modes=[mode], fresh=True)
    return target.compared(last, cases[1])


def _words(name: str, one: Asked, case: Case) -> str:
    """Return a unique name in words for a call of the sequence, or one after it."""
    content = "the first" if one.case.inputs == case.inputs else "other"
    number = name.rpartition("_")[2]
    if name.startswith(AFTER):
        return f"a call with {content} values after them ({number})"
    return f"the first of them with {content} values ({number})"
