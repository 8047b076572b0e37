"""Does a call end, without a refused launch, and return one tensor of the reference's shape, dtype and device?"""

from __future__ import annotations

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.target import Call, Case, Target

NAME = "contract"


def run(target: Target) -> Finding:
    """Calls the claim once for every case, each in a fresh process."""
    for case in target.cases:
        (call,) = target.session(["claim"], cases=[case])
        if call.raised is not None:
            return answer(NAME, target, "error", f"{case.label}: the call raised {call.raised}")
        refused = [launch for launch in call.launches if launch["refused"]]
        if refused:
            what = f"{case.label}: launch of {refused[0]['kernel']} refused: {refused[0]['refused']}"
            return answer(NAME, target, "fail", what, line=refused[0]["line"])
        expected, got = _expected(target, case), _got(call)
        if got != expected:
            text = f"{case.label}: expected {expected}, got {got}"
            return answer(NAME, target, "fail", text, evidence={"expected": expected, "got": got})
    text = f"{len(target.cases)} calls ended and returned what the reference returns"
    return answer(NAME, target, "pass", text, evidence={"calls": len(target.cases)})


def _expected(target: Target, case: Case) -> str:
    return f"a {case.dtype} tensor of shape {list(case.expected.shape)} on {target.built.tensor_device}"


def _got(call: Call) -> str:
    if call.event["returned"] != "Tensor":
        return f"no tensor but {call.event['returned']}"
    return f"a {call.event['dtype']} tensor of shape {call.event['shape']} on {call.event['device']}"
