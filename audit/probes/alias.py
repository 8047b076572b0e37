"""Does the result have memory of its own: not an input's, not a buffer that the next call writes, no element twice?

A destination that the harness hands over is the result's own memory, and so is what the reference returns as well.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_largest, premise
from audit.probes.called import Call, Mode
from audit.probes.target import Target

NAME = "alias"
MECHANISMS = ("view of an input returned", "static output buffer", "expanded result", "wrong stride of the result")


def run(target: Target) -> Finding:
    """The first result at the largest case, and the same one again after a later call with other values."""
    asked = at_largest(target)
    first, held = asked["first"], asked["held"]
    if (skipped := premise(NAME, target, first)) is not None:
        return skipped
    evidence: dict[str, JsonValue] = {
        "shape": dict(first.case.shape),
        "inputs_shared": list(first.call.event["aliases"]),
        "strides": list(first.call.event["strides"]),
    }
    label = first.case.label
    theirs = _allowed(target, first)
    after = held.compared(target)
    if not after.right and not theirs:  # in place by contract, a result is the input and goes the way of the input
        text = f"{label}: a later call changed this result, which was right before: {after.sentence()}"
        return answer(NAME, target, "fail", text, evidence=evidence)
    shared = [index for index in first.call.event["aliases"] if index not in theirs]
    if shared:
        numbers = ", ".join(str(index) for index in shared)
        text = f"{label}: the result lies in the memory of input {numbers}; the reference's does not"
        return answer(NAME, target, "fail", text, evidence=evidence)
    if _overlaps(first.call):
        text = f"{label}: several elements of the result share one place in memory (strides {evidence['strides']})"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence)
    return answer(NAME, target, "pass", f"{label}: the result has memory of its own", evidence=evidence)


def _allowed(target: Target, first: Asked) -> list[int]:
    """The inputs whose memory the result shares by contract: the destination, and those of the reference's result."""
    shared = [index for index in first.call.event["aliases"] if index != target.claim.harness.destination]
    if not shared:
        return list(first.call.event["aliases"])
    (call,) = target.session(["reference"], first.case, Mode())
    return [*(set(first.call.event["aliases"]) - set(shared)), *call.event.get("aliases", ())]


def _overlaps(call: Call) -> bool:
    sizes = zip(call.event["shape"], call.event["strides"], strict=True)
    return any(size > 1 and stride == 0 for size, stride in sizes)
