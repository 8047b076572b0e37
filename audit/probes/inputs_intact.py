"""Are the inputs, byte for byte, what they were before the call, but for those the reference changes too?"""

from __future__ import annotations

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Case, SessionBroken
from audit.probes.target import Run, Target

NAME = "inputs_intact"
MECHANISMS = ("input mutation",)


def run(target: Target) -> Finding:
    """One call at the middle case; the bytes of every input are compared around it."""
    case = target.middle
    changed = _changed(target, "claim", case)
    if changed:  # in place by contract is what the reference does itself
        changed = [index for index in changed if index not in _changed(target, "reference", case)]
    if not changed:
        return answer(NAME, target, "pass", f"{case.label}: inputs unchanged", evidence={"shape": dict(case.shape)})
    numbers = ", ".join(str(index) for index in changed)
    text = f"{case.label}: the call changed input {numbers}, which the reference leaves as it is"
    return answer(NAME, target, "fail", text, evidence={"shape": dict(case.shape), "inputs_changed": list(changed)})


def _changed(target: Target, run: Run, case: Case) -> list[int]:
    """The positions of the inputs that one call changes."""
    (call,) = target.session([run], cases=[case])
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    return [index for index, count in enumerate(call.event["bytes_changed"]) if count]
