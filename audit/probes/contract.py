"""Does a call end, without a refused launch, and return one tensor of the reference's shape, dtype and device?"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Call, Case, SessionBroken
from audit.probes.target import Target

NAME = "contract"
MECHANISMS = ("wrong type or device of the result", "lazy tensor subclass", "swallowed launch error", "illegal address")
ILLEGAL = "illegal memory access"
"""CUDA's own words for an access outside every allocation."""


def run(target: Target) -> Finding:
    """Calls the claim once for every case: in one process, and each in its own where that one did not reach its end.

    `answered` in the evidence of a failure or an error holds the indices of the cases whose call returned something.
    """
    try:
        calls = target.session(["claim"], cases=target.cases)
    except SessionBroken:
        calls = [target.session(["claim"], cases=[case])[0] for case in target.cases]
    defects = [_defect(target, case, call) for case, call in zip(target.cases, calls, strict=True)]
    found = sorted(filter(None, defects), key=lambda finding: not finding.convicts)
    if found:
        answered: list[JsonValue] = [index for index, call in enumerate(calls) if call.raised is None]
        return found[0].model_copy(update={"evidence": {**found[0].evidence, "answered": answered}})
    text = f"{len(calls)} calls ended and returned what the reference returns"
    return answer(NAME, target, "pass", text, evidence={"calls": len(calls)})


def _defect(target: Target, case: Case, call: Call) -> Finding | None:
    if call.raised is not None:
        proved = ILLEGAL in call.raised
        return answer(NAME, target, "fail" if proved else "error", f"{case.label}: the call raised {call.raised}")
    refused = [launch for launch in call.launches if launch["refused"]]
    if refused:
        what = f"{case.label}: launch of {refused[0]['kernel']} refused: {refused[0]['refused']}"
        return answer(NAME, target, "fail", what, line=refused[0]["line"])
    expected, got = _expected(target, case), _got(call)
    if got == expected:
        return None
    text = f"{case.label}: expected {expected}, got {got}"
    return answer(NAME, target, "fail", text, evidence={"expected": expected, "got": got})


def _expected(target: Target, case: Case) -> str:
    return f"a {case.dtype} tensor of shape {list(case.expected.shape)} on {target.built.tensor_device}"


def _got(call: Call) -> str:
    if call.event["returned"] != "Tensor":
        return f"no tensor but {call.event['returned']}"
    return f"a {call.event['dtype']} tensor of shape {call.event['shape']} on {call.event['device']}"
