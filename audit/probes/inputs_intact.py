"""Are the inputs, byte for byte, what they were before the call, but for the harness's destination and those the
reference changes too?

A hint where a call leaves something in a list or dict that it was handed.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Case, Run, SessionBroken
from audit.probes.target import Target

NAME = "inputs_intact"
MECHANISMS = ("input mutation", "packed weights kept in the caller's container")


def run(target: Target) -> Finding:
    """One call at the middle case; the bytes of every input are compared around it."""
    case = target.middle
    changed, left_in = _changed(target, "claim", case)
    if changed:  # in place by contract is what the reference does itself
        allowed, _ = _changed(target, "reference", case)
        changed = [index for index in changed if index not in allowed]
    evidence: dict[str, JsonValue] = {"shape": dict(case.shape)}
    if changed:
        text = f"{case.label}: the call changed input {_listed(changed)}, which the reference leaves as it is"
        return answer(NAME, target, "fail", text, evidence={**evidence, "inputs_changed": list(changed)})
    if left_in:
        text = f"{case.label}: the call left something in input {_listed(left_in)}, a container of the caller's"
        text += "; timed calls get containers of their own"
        return answer(NAME, target, "fail", text, grade="hint", evidence={**evidence, "left_in": list(left_in)})
    return answer(NAME, target, "pass", f"{case.label}: inputs unchanged", evidence=evidence)


def _changed(target: Target, run: Run, case: Case) -> tuple[list[int], list[int]]:
    """The positions of the inputs that one call changes, and of the containers in which it leaves something."""
    call = target.call(case, target.plain) if run == "claim" else target.session([run], case, target.plain)[0]
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    place = target.claim.harness.destination
    changed = [index for index, count in enumerate(call.event["bytes_changed"]) if count and index != place]
    return changed, list(call.event.get("left_in", ()))


def _listed(places: list[int]) -> str:
    return ", ".join(str(index) for index in places)
