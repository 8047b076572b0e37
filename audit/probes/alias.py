"""Does the result have memory of its own: not an input's, not a buffer that the next call writes, no element twice?

The harness's destination counts as the result's own memory, and so does an input whose memory the reference returns.
"""

from __future__ import annotations

from contextlib import suppress

from audit.model.errors import AuditError
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.compare import sentence
from audit.probes.observing import claimed_shape
from audit.probes.observing.battery import HELD, HELD_ON, SECOND, at_largest, at_middle, premise
from audit.probes.observing.called import Mode
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target

NAME = "alias"
RESULTS = 24


def observe(target: Target) -> Observed:
    """Compare the first result at the largest case again after a later call with other values, and the first result at
    the middle case after many calls."""
    asked = at_largest(target)
    first = asked["first"]
    if (skipped := premise(target, first)) is not None:
        return skipped
    allowed, held, at = _allowed(target, first), asked[HELD].compared(target), first.case
    if held.right and not allowed and (many := at_middle(target))["first"].compared(target).right:
        kept = [many[HELD], many[HELD_ON], *_second(target, many)]
        held, at = min(((one.compared(target), one.case) for one in kept), key=lambda pair: pair[0].right)
    if not held.right and not allowed and not at.counts and (found := _at_claimed_shape(target)):
        return found
    return {
        "shape": dict(at.shape),
        "inputs_shared": list(first.call.event["aliases"]),
        "strides": list(first.call.event["strides"]),
        "result_shape": list(first.call.event["shape"]),
        **({"inputs_allowed": allowed} if allowed else {}),
        **({} if held.right else {"held": held.evidence()}),
    }


def conclude(seen: Observed) -> Answer:
    """Fail where a later call changed the result, where it shares an input's memory, or where its elements overlap."""
    if "results" in seen:
        return failed(f"{label(seen['shape'])}, the claimed shape: of {seen['results']} results two lie in one place")
    shape, allowed = label(seen["shape"]), seen.get("inputs_allowed", ())
    if "held" in seen and not allowed:  # a result that is an input by contract changes with the input
        return failed(f"{shape}: a later call changed this result, which was right before: {sentence(seen['held'])}")
    if shared := ", ".join(str(index) for index in seen["inputs_shared"] if index not in allowed):
        return failed(f"{shape}: the result lies in the memory of input {shared}; the reference's does not")
    sizes = zip(seen["result_shape"], seen["strides"], strict=True)
    if any(size > 1 and stride == 0 for size, stride in sizes):
        text = f"several elements of the result share one place in memory (strides {seen['strides']})"
        return failed(f"{shape}: {text}", "hint")
    return passed(f"{shape}: the result has memory of its own")


def _second(target: Target, many: dict[str, Asked]) -> list[Asked]:
    """Return another early result as it is at the end, if it was right when it was returned."""
    if SECOND not in many:
        return []
    held = many[SECOND]
    returned = next(one for one in many.values() if one.case.inputs == held.case.inputs)
    return [held] if returned.compared(target).right else []


def _at_claimed_shape(target: Target) -> Observed | None:
    """Return the evidence that results of the claimed shape share memory; None where they do not, or it is unknown."""
    with suppress(AuditError):
        if claimed_shape.shares_results(target, RESULTS):
            return {"shape": dict(target.claim.shapes.claimed), "results": RESULTS}
    return None


def _allowed(target: Target, first: Asked) -> list[int]:
    """Return the inputs whose memory the result may share: the destination, and those that the reference shares."""
    shared = [index for index in first.call.event["aliases"] if index != target.claim.harness.destination]
    if not shared:
        return list(first.call.event["aliases"])
    (call,) = target.session(["reference"], first.case, Mode())
    return sorted({*first.call.event["aliases"]} - {*shared} | {*call.event.get("aliases", ())})
