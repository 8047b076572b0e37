"""Does the result follow the values: other ones at the same addresses, one element changed, the same at new addresses?

A result cached by address, by shape or by a sample or a sum of the contents, rounded or not, is wrong for one of these.
Values are changed past torch's version counters, and each change comes right after the values it was made from. A
result that is wrong in a fresh process too is a hint at values outside the range of the task's own draws, where an
element that had to be made very large overflows, at whole numbers where the right result hangs on equal ones, and
within ten times the tolerance, which rounding can explain, for instance where one large number meets many small ones.
"""

from __future__ import annotations

import math
from contextlib import suppress

from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.compare import FAR, ROUNDED, sentence
from audit.probes.concluding.undefined import undefined_beside
from audit.probes.observing.battery import AGAIN, FREED, WHOLE, at_largest, at_middle, premise
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import of_case

NAME = "fresh_values"
WORDS = {
    "other_values": "other values at the same addresses",
    "last_element": "the last element changed at the same address",
    "one_element": "one element changed at the same address",
    "middle_element": "one element in the middle changed at the same address",
    "fixed_element": "one element of a fixed input changed at the same address",
    "slightly_moved": "one element changed slightly at the same address",
    "two_exchanged": "two elements exchanged at the same address",
    "new_addresses": "the same values at new addresses",
    f"other_values{FREED}": "other values in the memory of inputs that were freed",
    WHOLE: "whole numbers at the same addresses",
    AGAIN: "the first values again, behind other ones",
}


def observe(target: Target) -> Observed:
    """Compare later calls of one process at the middle case, and a second call at the largest."""
    middle, largest = at_middle(target), at_largest(target)
    for first in (middle["first"], largest["first"]):
        if (skipped := premise(target, first)) is not None:
            return skipped
    pairs = [(found["first"], one) for found in (middle, largest) for one in found.values() if _words(one)]
    entries = [_described(target, *pair) for pair in pairs]
    wrong = [(later, one) for (_, later), one in zip(pairs, entries, strict=True) if not one["right"]]
    if not wrong:
        return {"shapes": entries}
    for later, one in wrong:
        one["right_alone"] = _right_alone(target, later)
        if one["right_alone"]:
            break
    worst = _worst(entries)
    return {
        "shapes": entries,
        "undefined": undefined_beside(target, next(one.case for one, of in wrong if of is worst)),
    }


def conclude(seen: Observed) -> Answer:
    """Fail at the first wrong call that is right in a fresh process, else at the first wrong one."""
    worst = _worst(seen["shapes"])
    if worst is None:
        return passed(f"right in {len(seen['shapes'])} later calls with other values")
    text = f"{label(worst['shape'])}: {worst['change']}: {sentence(worst)}"
    text += "; bit for bit the result of the first call" if worst.get("replayed") else ""
    if worst["right_alone"]:
        return failed(f"{text}; the same inputs come out right in a fresh process", grade_beside(seen["undefined"]))
    text += "; alone too"
    if (why := _explained(worst)) is not None:
        return failed(f"{text}; {why}", "hint")
    return failed(text, grade_beside(seen["undefined"]))


def _explained(wrong: Observed) -> str | None:
    """Return what explains a result that is wrong in a fresh process too, in a kernel that is otherwise sound."""
    if wrong.get("replayed"):
        return None
    if wrong.get("outside"):
        return "the task's own inputs keep to a range that this leaves"
    if wrong.get("tied"):
        return "the right result hangs on equal numbers there, which the reference has a rule for"
    if steps := wrong.get("overflowed"):
        return f"the element was moved by {steps:g} steps until the right result showed it, and overflows"
    return None if wrong.get("far", True) else ROUNDED


def _worst(found: list[Observed]) -> Observed | None:
    wrong = [one for one in found if not one["right"]]
    return min(wrong, key=lambda one: (not one.get("right_alone"), _explained(one) is not None), default=None)


def _described(target: Target, first: Asked, later: Asked) -> Observed:
    """Return the evidence about a later call; of a wrong one `replayed` is whether it has the bits of the first result,
    and `far` whether rounding cannot explain it."""
    compared = later.compared(target)
    values = {"shape": dict(later.case.shape), "change": _words(later), **compared.evidence()}
    variation = of_case(target, later.case)
    values |= {"outside": True} if variation and variation.outside else {}
    values |= {"tied": True} if variation and variation.tied else {}
    if compared.right:
        return values
    wide = target.tolerance.model_copy(update={"relative": FAR * target.relative(later.case)})
    values["far"] = not target.compared_within(wide, later.call, later.case).right
    if variation and variation.steps > 1 and _overflows(values):
        values["overflowed"] = variation.steps
    same = later.case.inputs != first.case.inputs and first.call.same_bits(later.call)
    return {**values, **({"replayed": True} if same else {})}


def _overflows(wrong: Observed) -> bool:
    with suppress(TypeError, ValueError):  # a complex number, or none
        return math.isfinite(float(wrong["expected"])) and not math.isfinite(float(wrong["got"]))
    return False


def _right_alone(target: Target, one: Asked) -> bool:
    """Return whether the same inputs give a right result in the first call of a process."""
    (call,) = target.session(["claim"], one.case, target.plain, fresh=True)
    return Asked(one.what, one.case, call).compared(target).right


def _words(one: Asked) -> str | None:
    """Return the difference from the first call in words; None for a call of another probe, or without freed memory."""
    if one.what.endswith(FREED) and not one.call.event.get("same_address"):
        return None
    return WORDS[AGAIN] if one.what.startswith(AGAIN) else WORDS.get(one.what)
