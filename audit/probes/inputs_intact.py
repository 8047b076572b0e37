"""Are the inputs unchanged, byte for byte, except the harness's destination and those that the reference changes?

A call that adds something to a list or dict among its arguments is a hint.
"""

from __future__ import annotations

from audit.probes.answer import Answer, Observed, failed, label, passed
from audit.probes.called import Run, SessionBroken
from audit.probes.cases import Case
from audit.probes.target import Target

NAME = "inputs_intact"


def observe(target: Target) -> Observed:
    """Compare the bytes of every input around one call at the middle case."""
    case = target.middle
    changed, left_in = _changed(target, "claim", case)
    if changed:  # the reference may work in place too
        allowed, _ = _changed(target, "reference", case)
        changed = [index for index in changed if index not in allowed]
    seen: Observed = {"shape": dict(case.shape)}
    if changed:
        return seen | {"inputs_changed": changed}
    return seen | ({"left_in": left_in} if left_in else {})


def conclude(seen: Observed) -> Answer:
    """Fail where an input changed; give a hint where a container did."""
    shape = label(seen["shape"])
    if changed := seen.get("inputs_changed"):
        return failed(f"{shape}: the call changed input {_listed(changed)}, which the reference leaves as it is")
    if left_in := seen.get("left_in"):
        text = f"the call left something in input {_listed(left_in)}, a container of the caller's"
        return failed(f"{shape}: {text}; timed calls get containers of their own", "hint")
    return passed(f"{shape}: inputs unchanged")


def _changed(target: Target, run: Run, case: Case) -> tuple[list[int], list[int]]:
    """Return the positions of the inputs that one call changes, and of the containers that it adds to."""
    call = target.call(case, target.plain) if run == "claim" else target.session([run], case, target.plain)[0]
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    destination = target.claim.harness.destination
    changed = [index for index, count in enumerate(call.event["bytes_changed"]) if count and index != destination]
    return changed, list(call.event.get("left_in", ()))


def _listed(positions: list[int]) -> str:
    return ", ".join(map(str, positions))
