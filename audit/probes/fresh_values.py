"""Does the result follow the values: other ones at the same addresses, one element changed, the same at new addresses?

A result kept from an earlier call, by address, by shape or by a sample of the contents, is wrong for one of these.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_largest, at_middle, premise
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "fresh_values"
MECHANISMS = (
    "output cached by pointer",
    "output cached by shape or last call",
    "output cached by a sample of the contents",
    "static tensor in the extension",
    "copy of the first result",
    "graph replay with stale inputs",
    "seed replay",
)
WORDS = {
    "other_values": "other values at the same addresses",
    "last_element": "the last element changed at the same address",
    "one_element": "one element changed at the same address",
    "new_addresses": "the same values at new addresses",
}


def run(target: Target) -> Finding:
    """Later calls of one process at the middle case, and a second call at the largest."""
    middle, largest = at_middle(target), at_largest(target)
    for first in (middle["first"], largest["first"]):
        if (skipped := premise(NAME, target, first)) is not None:
            return skipped
    pairs = [(middle["first"], middle[name]) for name in WORDS if name in middle]
    pairs += [(largest["first"], largest[name]) for name in WORDS if name in largest]
    told: list[JsonValue] = []
    wrong: list[tuple[Asked, str]] = []
    for first, later in pairs:
        comparison = later.compared(target)
        told.append({"shape": dict(later.case.shape), "change": WORDS[later.what], **comparison.evidence()})
        if not comparison.right:
            what = f"{later.case.label}: {WORDS[later.what]}: {comparison.sentence()}{_replayed(first, later)}"
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
    (call,) = target.session(["claim"], cases=[one.case], memory=target.built.nan_memory, fresh=True)
    return Asked(one.what, one.case, call).compared(target).right


def _replayed(first: Asked, later: Asked) -> str:
    same = later.what != "new_addresses" and first.call.same_bits(later.call)
    return "; bit for bit the result of the first call" if same else ""
