"""Are the inputs unchanged, byte for byte, except the harness's destination and those that the reference changes?

A call that adds something to a list or dict among its arguments is a hint.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.observing.called import Run, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.probes.observing.variations import NoVariations, wanted

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
        return seen | {"inputs_changed": changed, **_named(target)}
    return seen | ({"left_in": left_in, **_named(target)} if left_in else {})


def conclude(seen: Observed) -> Answer:
    """Fail where an input changed; give a hint where a container did."""
    shape = label(seen["shape"])
    if changed := seen.get("inputs_changed"):
        return failed(f"{shape}: the call changed input {_listed(changed, seen)}, which the reference leaves as it is")
    if left_in := seen.get("left_in"):
        text = f"the call left something in input {_listed(left_in, seen)}, a container of the caller's"
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


def _named(target: Target) -> Observed:
    """Return the `names` of the middle case's inputs; nothing where the reference gave no other inputs."""
    try:
        return {"names": list(wanted(target).middle.inputs)}
    except NoVariations:
        return {}


def _listed(positions: list[int], seen: Observed) -> str:
    """Return the positions, each with its parameter in the task where that is one value and known."""
    names = [one.split("_", 2)[1:] for one in seen.get("names", ())]
    known = [[name for index, *name in names if index == str(position)] for position in positions]
    return ", ".join(
        f"{position} ({name[0][0]})" if len(name) == 1 and name[0] else str(position)
        for position, name in zip(positions, known, strict=True)
    )
