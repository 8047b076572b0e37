"""Are the inputs, byte for byte, what they were before the call, but for the harness's destination and those the
reference changes too?

A hint where a call leaves something in a list or dict that it was handed.
"""

from __future__ import annotations

from audit.probes.answer import Answer, Seen, failed, label, passed
from audit.probes.called import Run, SessionBroken
from audit.probes.cases import Case
from audit.probes.target import Target

NAME = "inputs_intact"
MECHANISMS = ("input mutation", "packed weights kept in the caller's container")


def observe(target: Target) -> Seen:
    """One call at the middle case; the bytes of every input are compared around it."""
    case = target.middle
    changed, left_in = _changed(target, "claim", case)
    if changed:  # in place by contract is what the reference does itself
        allowed, _ = _changed(target, "reference", case)
        changed = [index for index in changed if index not in allowed]
    seen: Seen = {"shape": dict(case.shape)}
    if changed:
        return seen | {"inputs_changed": changed}
    return seen | ({"left_in": left_in} if left_in else {})


def conclude(seen: Seen) -> Answer:
    """A changed input is proved; what is left in a container is a hint."""
    place = label(seen["shape"])
    if changed := seen.get("inputs_changed"):
        return failed(f"{place}: the call changed input {_listed(changed)}, which the reference leaves as it is")
    if left_in := seen.get("left_in"):
        text = f"the call left something in input {_listed(left_in)}, a container of the caller's"
        return failed(f"{place}: {text}; timed calls get containers of their own", "hint")
    return passed(f"{place}: inputs unchanged")


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
