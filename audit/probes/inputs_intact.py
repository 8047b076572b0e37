"""Are the inputs, byte for byte, what they were before the call?"""

from __future__ import annotations

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.target import SessionBroken, Target

NAME = "inputs_intact"


def run(target: Target) -> Finding:
    """One call at the middle case; the bytes of every input are compared around it."""
    case = target.middle
    (call,) = target.session(["claim"], cases=[case])
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    changed = [index for index, count in enumerate(call.event["bytes_changed"]) if count]
    if not changed:
        return answer(NAME, target, "pass", f"{case.label}: inputs unchanged", evidence={"shape": dict(case.shape)})
    numbers = ", ".join(str(index) for index in changed)
    text = f"{case.label}: the call changed input {numbers} ({sum(call.event['bytes_changed']):,} bytes)"
    return answer(
        NAME, target, "fail", text, evidence={"shape": dict(case.shape), "inputs_changed": list(changed)}
    )
