"""Does a call end, without a refused launch, and return one tensor of the reference's shape, dtype and device?

Dimensions of size 1 tell no elements apart: `[1]` for `[]` is a note, and the values decide. Strides, and a class that
adds nothing to torch's tensor, such as a module's parameter, are no part of the question.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Call, Case, alike
from audit.probes.target import Target

NAME = "contract"
MECHANISMS = ("wrong type or device of the result", "lazy tensor subclass", "swallowed launch error", "illegal address")
ILLEGAL = "illegal memory access"
"""CUDA's own words for an access outside every allocation."""


def run(target: Target) -> Finding:
    """Look at the first call at every case: all in one process, or in its own where that one did not come to it.

    `answered` in the evidence, where it is there, holds the indices of the cases that further questions may use: whose
    call returned something, and launched blocks.
    """
    calls = target.calls(target.cases, target.plain)
    pairs = list(zip(target.cases, calls, strict=True))
    useless = [why for case, call in pairs if (why := _unusable(case, call))]
    found = sorted(
        filter(None, (_defect(target, *pair) for pair in pairs)), key=lambda finding: not finding.fails_kernel
    )
    told = found[0] if found else _passed(target, [pair for pair in pairs if not _unusable(*pair)], useless)
    if found or useless:
        answered: list[JsonValue] = [
            index for index, (case, call) in enumerate(pairs) if call.raised is None and not _unusable(case, call)
        ]
        told = told.model_copy(update={"evidence": {**told.evidence, "answered": answered}})
    return told


def _passed(target: Target, usable: list[tuple[Case, Call]], useless: list[str]) -> Finding:
    """What is known where no usable call shows a defect."""
    if not usable:
        return answer(NAME, target, "skip", f"no shape to ask at: {'; '.join(useless)}")
    text = f"{len(usable)} calls ended and returned what the reference returns"
    notes = [note for pair in usable if (note := _note(*pair))]
    evidence: dict[str, JsonValue] = {"calls": len(usable), **({"notes": list(notes)} if notes else {})}
    return answer(NAME, target, "pass", "; ".join([text, *notes[:1]]), evidence=evidence)


def _unusable(case: Case, call: Call) -> str | None:
    """Why there is nothing to be learnt at a shape that the claim does not name: an empty grid, or a refusal."""
    if case.scope in ("kept", "other") and any(launch["grid"] and 0 in launch["grid"] for launch in call.launches):
        return f"{case.label}, which the claim does not name, makes a launch without blocks"
    if case.scope == "other" and call.raised is not None and ILLEGAL not in call.raised:
        return f"{case.label}, which the claim does not name, is refused: {call.raised}"
    return None


def _note(case: Case, call: Call) -> str | None:
    """Says so where a result has other dimensions of size 1 than the reference's."""
    got, want = call.event["shape"], list(case.expected.shape)
    if got == want:
        return None
    return f"{case.label}: shape {got} for {want}: dimensions of size 1 tell no elements apart, so the values decide"


def _defect(target: Target, case: Case, call: Call) -> Finding | None:
    if _unusable(case, call):
        return None
    if call.raised is not None:
        proved = ILLEGAL in call.raised
        text = f"{case.label}: the call raised {call.raised}"
        return answer(NAME, target, "fail" if proved else "error", text, shape=case.shape)
    refused = [launch for launch in call.launches if launch["refused"]]
    if refused:
        what = f"{case.label}: launch of {refused[0]['kernel']} refused: {refused[0]['refused']}"
        return answer(NAME, target, "fail", what, line=refused[0]["line"], shape=case.shape)
    expected, got = _expected(target, case, list(case.expected.shape)), _got(target, case, call)
    shape: list[int] = call.event.get("shape", [])
    if got == expected or (alike(shape, case.expected.shape) and got == _expected(target, case, shape)):
        return None
    text = f"{case.label}: expected {expected}, got {got}"
    return answer(NAME, target, "fail", text, evidence={"expected": expected, "got": got}, shape=case.shape)


def _expected(target: Target, case: Case, shape: list[int]) -> str:
    return f"a {case.dtype} tensor of shape {shape} on {target.built.tensor_device}"


def _got(target: Target, case: Case, call: Call) -> str:
    """What came back; in the destination it has the dtype that the harness chose."""
    if call.event["returned"] != "Tensor":
        return f"no tensor but {call.event['returned']}"
    handed = target.claim.harness.destination in call.event["aliases"]
    dtype = case.dtype if handed else call.event["dtype"]
    return f"a {dtype} tensor of shape {call.event['shape']} on {call.event['device']}"
