"""Does a call end, without a refused launch, and return the reference's tensors, by shape, dtype and device?

Outputs of one call that share memory are a hint: their values may be right, until a caller writes into one.

Dimensions of size 1 tell no elements apart: `[1]` for `[]` is a note, and the values decide. Strides, and a class that
adds nothing to torch's tensor, such as a module's parameter, are no part of the question. An exception is no failure,
unless the source's own check of sizes refuses the claimed shape while another shape returns a result, or no launch of a
Triton kernel of the source can bind its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from audit.model import Shape
from audit.model.errors import AuditError
from audit.probes import claimed_launches
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed, skipped
from audit.probes.concluding.behaviour import faulted
from audit.probes.concluding.own_kernels import own_kernels
from audit.probes.observing import claimed_shape, sized
from audit.probes.observing.called import Call, ProtocolViolated, alike
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

NAME = "contract"
NUMBER, MOST_NUMBERS = re.compile(r"(?<![\w.])[1-9]\d{0,4}(?![\w.])"), 4
"""Sizes in a check of the source."""
_UNBOUND = re.compile(
    r"TypeError: (?P<kernel>\w+)\(\) (?:missing \d+ required positional arguments?|got multiple values for argument)"
)
STATUS = {"NoneType": "nothing", "int": "a number", "bool": "a truth value"}
"""Results of functions that write into an argument, in words."""
BINDER = "dynamic_func"
"""The function of Triton's that binds the arguments of a compiled kernel, which its messages name."""
NUMBERS = {"float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64"}
"""The dtypes that a check of values alone takes for one another."""


def observe(target: Target) -> Observed:
    """Describe the first call at every case: all in one process, or in its own after that process broke.

    `answered`, if present, holds the indices of the cases that further probes may use: their calls returned a result
    and launched blocks. `takes` is another shape that returns a result where the source's own check refuses the claimed
    one.
    """
    pairs = list(zip(target.cases, target.calls(target.cases, target.plain), strict=True))
    unusable = [_unusable(*pair) for pair in pairs]
    usable = [pair for pair, why in zip(pairs, unusable, strict=True) if why is None]
    found = [(case, seen) for case, call in usable if (seen := _defect(target, case, call)) is not None]
    into = {id(case) for case, seen in found if "written" in seen}
    answered = [
        index
        for index, (case, call) in enumerate(pairs)
        if call.raised is None and unusable[index] is None and id(case) not in into
    ]
    values = {"answered": answered} if found or len(usable) < len(pairs) else {}
    all_raised = all(call.raised is not None for _, call in pairs)
    if all_raised and (refusal := _unbound(target, pairs) or _refusal(target, pairs)) is not None:
        return refusal | values
    if found:  # a defect that fails the kernel comes first
        _, seen = min(found, key=lambda pair: not (pair[0].counts and _fails(pair[1])))
        return seen | values
    if not usable:
        return {"unusable": unusable, **values}
    shared = next((one for one in usable if one[1].event.get("sharing") and not target.is_reference), None)
    if shared is not None:
        case, call = shared
        return {"shape": dict(case.shape), "sharing": list(call.event["sharing"]), **values}
    notes = [note for pair in usable if (note := _note(*pair))]
    return {"calls": len(usable), **({"notes": notes} if notes else {}), **values}


def conclude(seen: Observed) -> Answer:
    """Fail with the defect at one case; pass where no usable call has one."""
    if "unusable" in seen:
        return skipped(f"no shape to ask at: {'; '.join(map(_useless, seen['unusable']))}")
    if "calls" in seen:
        text = f"every call ended and returned what the reference returns ({seen['calls']})"
        return passed("; ".join([text, *seen.get("notes", ())[:1]]))
    shape = label(seen["shape"])
    if "sharing" in seen:
        return failed(_shared(shape, seen["sharing"]), "hint")
    if "unbound" in seen:
        return failed(f"{shape}: the call raised {seen['raised']}: no launch of {seen['unbound']} binds its arguments")
    if "takes" in seen:
        text = f"{shape}, the claimed shape, is refused: {seen['raised']}"
        return failed(f"{text}; {label(seen['takes'])} comes back with a result", line=seen["line"])
    return _of_a_call(seen, shape)


def _of_a_call(seen: Observed, shape: str) -> Answer:
    """Return the answer about a refused launch, an exception or a result of another type."""
    if "refused" in seen:
        raised = f"; the call raised {seen['raised']}" if "raised" in seen else ""
        return failed(f"{shape}: launch of {seen['kernel']} refused: {seen['refused']}{raised}", line=seen["line"])
    if "raised" in seen:
        text = f"{shape}: the call raised {seen['raised']}"
        return failed(text) if _fails(seen) else Answer("error", text)
    if (place := seen.get("written")) is not None:
        nothing = STATUS[seen.get("status", "NoneType")]
        text = f"{shape}: the call returned {nothing} and wrote into argument {place}, counted from 0"
        return Answer("error", f"{text}; write destination = {place} under [harness] of claim.toml and audit it again")
    return failed(f"{shape}: expected {seen['expected']}, got {seen['got']}")


def _shared(shape: str, pairs: Sequence[Sequence[int]]) -> str:
    named = ", ".join(f"{one} and {other}" for one, other in pairs)
    return f"{shape}: outputs that share memory, counted from 0: {named}; writing into one changes the other"


def _fails(seen: Observed) -> bool:
    """Return whether a defect is a failure: an exception is none unless it reports a kernel's fault, and a result that
    the claim's harness does not look for is none."""
    return "written" not in seen and ("raised" not in seen or "refused" in seen or faulted(seen["raised"]))


def _unusable(case: Case, call: Call) -> Observed | None:
    """Return why a shape that the claim does not name is of no use: an empty grid, or an exception."""
    if case.scope in ("kept", "other") and any(launch["grid"] and 0 in launch["grid"] for launch in call.launches):
        return {"shape": dict(case.shape)}
    if case.scope == "other" and call.raised is not None and not faulted(call.raised):
        return {"shape": dict(case.shape), "raised": call.raised}
    return None


def _useless(seen: Observed) -> str:
    why = f"is refused: {seen['raised']}" if "raised" in seen else "makes a launch without blocks"
    return f"{label(seen['shape'])}, which the claim does not name, {why}"


def _note(case: Case, call: Call) -> str | None:
    """Return a note where a result has other dimensions of size 1 than the reference's."""
    got, want = call.event["shape"], list(case.expected.shape)
    if got == want:
        return None
    return f"{case.label}: shape {got} for {want}: dimensions of size 1 tell no elements apart, so the values decide"


def _defect(target: Target, case: Case, call: Call) -> Observed | None:
    shape = {"shape": dict(case.shape)}
    raised = {} if call.raised is None else {"raised": call.raised}
    if refused := next((launch for launch in call.launches if launch["refused"]), None):
        return {**shape, **{key: refused[key] for key in ("kernel", "refused", "line")}, **raised}
    if raised:
        return {**shape, **raised}
    want = [(one.dtype, list(one.shape)) for one in case.outputs] or [(case.dtype, list(case.expected.shape))]
    if target.claim.harness.any_dtype and not _handed(target, call):
        want = _of_the_result(want, call)
    expected, got = _words(want, target.built.tensor_device), _got(target, case, call)
    if got == expected:
        return None
    sizes = [one["shape"] for one in call.outputs] or [call.event.get("shape", [])]
    if len(sizes) == len(want) and all(alike(mine, due) for mine, (_, due) in zip(sizes, want, strict=True)):
        unit = [(dtype, mine) for mine, (dtype, _) in zip(sizes, want, strict=True)]
        if got == _words(unit, target.built.tensor_device):
            return None
    return {**shape, "expected": expected, "got": got, **_written(target, case, call)}


def _written(target: Target, case: Case, call: Call) -> Observed:
    """Return the one argument that a call without a result, or with a status, wrote: no more of it than the right
    result has."""
    event = call.event
    if event["returned"] not in STATUS or len(case.outputs) > 1 or target.claim.harness.destination is not None:
        return {}
    bits = re.search(r"\d+", case.dtype)
    most = case.expected.size * (int(bits[0]) // 8 if bits else 1)
    changed = {place: count for place, count in enumerate(event.get("bytes_changed", ())) if count}
    if len(changed) != 1 or max(changed.values()) > most:
        return {}
    return {"written": next(iter(changed)), "status": event["returned"]}


def _of_the_result(want: list[tuple[str, list[int]]], call: Call) -> list[tuple[str, list[int]]]:
    """Return the reference's outputs, each in the dtype of the call's where both are numbers."""
    dtypes = [one.get("dtype", "") for one in call.outputs or [call.event]]  # no tensor has none
    if len(dtypes) != len(want):
        return want
    return [(got if {got, due} <= NUMBERS else due, sizes) for got, (due, sizes) in zip(dtypes, want, strict=True)]


def _words(outputs: list[tuple[str, list[int]]], device: str) -> str:
    """Return outputs by dtype and shape, in words."""
    if len(outputs) == 1:
        ((dtype, shape),) = outputs
        return f"a {dtype} tensor of shape {shape} on {device}"
    return f"{len(outputs)} tensors on {device}: {'; '.join(f'{dtype} of shape {shape}' for dtype, shape in outputs)}"


def _got(target: Target, case: Case, call: Call) -> str:
    """Return the result in words; in the destination it has the dtype that the harness chose."""
    returned, event = call.event["returned"], call.event
    if call.outputs and returned == f"{len(call.outputs)} tensors":
        return _words([(one["dtype"], one["shape"]) for one in call.outputs], event["device"])
    if returned != "Tensor":
        return f"no tensor but {returned}"
    dtype = case.dtype if _handed(target, call) else event["dtype"]
    return _words([(dtype, event["shape"])], event["device"])


def _handed(target: Target, call: Call) -> bool:
    """Return whether the result lies in the destination, whose dtype the harness chose."""
    return target.claim.harness.destination in call.event.get("aliases", ())


def _unbound(target: Target, pairs: Sequence[tuple[Case, Call]]) -> Observed | None:
    """Return the evidence that arguments of a launch do not fit the parameters of a Triton kernel of the source, at
    every shape asked, one that counts among them: Python itself says so on every device."""
    found = [(case.shape, case.counts, str(call.raised)) for case, call in pairs]
    if (at_claimed := _raised_at_claimed(target, pairs)) is not None and _UNBOUND.match(at_claimed):
        found.insert(0, (target.claim.shapes.claimed, True, at_claimed))
    names = {one["kernel"] if (one := _UNBOUND.match(raised)) else "" for _, _, raised in found}
    counting = next((one for one in found if one[1]), None)
    if target.is_reference or counting is None or len(names) != 1 or "" in names:
        return None
    if not names <= {*own_kernels(target.reference.parent / target.variant.file), BINDER}:
        return None
    return {"shape": dict(counting[0]), "raised": counting[2], "unbound": min(names)}


def _refusal(target: Target, pairs: Sequence[tuple[Case, Call]]) -> Observed | None:
    """Return the evidence that the source's own check refuses the claimed shape, but takes another; else None."""
    if target.is_reference or target.built.tensor_device == "cuda":
        return None
    raised = _raised_at_claimed(target, pairs)
    if raised is None:
        return None
    text = (target.reference.parent / target.variant.file).read_text(encoding="utf-8", errors="replace")
    line = claimed_launches.refusing_line(raised, text)
    taken = None if line is None else _taken(target, text.splitlines()[line - 1], [case.shape for case, _ in pairs])
    if taken is None:
        return None
    return {"shape": dict(target.claim.shapes.claimed), "raised": raised, "line": line, "takes": dict(taken)}


def _raised_at_claimed(target: Target, pairs: Sequence[tuple[Case, Call]]) -> str | None:
    """Return the exception at the claimed shape, of a call or of host code alone; None where a launch may cause it."""
    for case, call in pairs:
        if case.shape == target.claim.shapes.claimed:
            return None if any(one["refused"] for one in call.launches) else _alone(call.raised, call.reports)
    try:
        (found,) = claimed_shape.launched(target, [claimed_shape.needed(target)])
    except ProtocolViolated:
        raise
    except AuditError:
        return None
    return None if found.refused else _alone(found.raised, found.reports)


def _alone(raised: str | None, reports: Sequence[Mapping[str, Any]]) -> str | None:
    """Return an exception; None where a report says something else than that it was raised."""
    return None if raised is None or any(raised not in one["message"] for one in reports) else raised


def _taken(target: Target, check: str, refused: Sequence[Shape]) -> Shape | None:
    """Return a shape that returns a result: the claim's for this device, or its smallest with a size of the check."""
    known = target.claim.shapes.emulated
    numbers = [int(digits) for digits in NUMBER.findall(check)][:MOST_NUMBERS]
    near = ({**known[-1], name: number} for number in numbers for name in known[-1])
    others = [shape for shape in (*known, *near) if shape not in refused]
    try:
        found = sized.called(target, others)
    except ProtocolViolated:
        raise
    except AuditError:
        return None
    return next((at.shape for at in found if at.result in ("right", "wrong")), None)
