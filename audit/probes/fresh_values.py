"""Does the result follow the values: other ones at the same addresses, one element changed, the same at new addresses?

A result kept from an earlier call, by address, by shape or by a sample or a sum of the contents, is wrong for one of
these. Values are changed past torch's version counters, and each change comes right behind the values it was made from.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import AGAIN, FREED, WHOLE, Asked, at_largest, at_middle, premise
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "fresh_values"
MECHANISMS = (
    "output cached by pointer",
    "output cached by shape or last call",
    "output cached by address and version counter",
    "output cached by a sample of the contents",
    "output cached by a sum of the contents",
    "static tensor in the extension",
    "copy of the first result",
    "graph replay with stale inputs",
    "seed replay",
)
WORDS = {
    "other_values": "other values at the same addresses",
    "last_element": "the last element changed at the same address",
    "one_element": "one element changed at the same address",
    "middle_element": "one element in the middle changed at the same address",
    "two_exchanged": "two elements exchanged at the same address",
    "new_addresses": "the same values at new addresses",
    f"other_values{FREED}": "other values in the memory of inputs that were freed",
    WHOLE: "whole numbers at the same addresses",
    AGAIN: "the first values again, behind other ones",
}


def run(target: Target) -> Finding:
    """Later calls of one process at the middle case, and a second call at the largest."""
    middle, largest = at_middle(target), at_largest(target)
    for first in (middle["first"], largest["first"]):
        if (skipped := premise(NAME, target, first)) is not None:
            return skipped
    pairs = [(found["first"], one) for found in (middle, largest) for one in found.values() if _words(one)]
    told: list[JsonValue] = []
    wrong: list[tuple[Asked, str]] = []
    for first, later in pairs:
        comparison = later.compared(target)
        told.append({"shape": dict(later.case.shape), "change": _words(later), **comparison.evidence()})
        if not comparison.right:
            what = f"{later.case.label}: {_words(later)}: {comparison.sentence()}{_replayed(first, later)}"
            wrong.append((later, what))
    evidence: dict[str, JsonValue] = {"shapes": told}
    if not wrong:
        return answer(NAME, target, "pass", f"right in {len(pairs)} later calls with other values", evidence=evidence)
    later, text = next(((one, text) for one, text in wrong if _right_alone(target, one)), wrong[0])
    cause = "the same inputs come out right in a fresh process" if _right_alone(target, later) else "alone too"
    grade: Grade = "undefined" if undefined_beside(target, later.case) else "proved"
    return answer(NAME, target, "fail", f"{text}; {cause}", grade=grade, evidence=evidence)


def _right_alone(target: Target, one: Asked) -> bool:
    """Whether the same inputs come out right as the first call of a process."""
    (call,) = target.session(["claim"], one.case, target.plain, fresh=True)
    return Asked(one.what, one.case, call).compared(target).right


def _words(one: Asked) -> str | None:
    """What differs from the first call, in words; None for a call that is another probe's, or got no freed memory."""
    if one.what.endswith(FREED) and not one.call.event.get("same_address"):
        return None
    return WORDS[AGAIN] if one.what.startswith(AGAIN) else WORDS.get(one.what)


def _replayed(first: Asked, later: Asked) -> str:
    same = later.case.inputs != first.case.inputs and first.call.same_bits(later.call)
    return "; bit for bit the result of the first call" if same else ""
