"""One call at each of several shapes that a kernel may refuse: right, wrong, refused, or not of the task."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import JsonValue

from audit.model import Shape, sanitizer
from audit.model.errors import Unsupported
from audit.probes import claimed_launches
from audit.probes.concluding.behaviour import faulted, is_proved
from audit.probes.concluding.compare import sentence
from audit.probes.observing import claimed_shape
from audit.probes.observing.called import Call, Mode, ProtocolViolated, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.run.messages import requests

Result = Literal["right", "wrong", "refused", "launch_refused", "launched", "not_taken", "no_answer"]
MADE_S = 60.0
"""Seconds for the inputs and right results of all shapes."""
MOST_WORK = {"cpu": 1 << 23, "cuda": 1 << 30}
"""The most elements and multiplications of all calls together, by device; see `audit.run.references.work`."""
LONGEST = 300
"""The most characters of a reason."""
MOST_BROKEN = 2
"""Broken sessions after which no further shape is asked: each may wait for its time limit."""
MOST_BLOCKS = 65_535
"""The most blocks of a grid along y and along z (CUDA C++ Programming Guide, compute capabilities). Along x the limit
is 2,147,483,647, which takes more memory than a GPU has."""
MOST_BYTES, ELEMENT_BYTES = 1 << 31, 8
"""The most estimated bytes of a shape's arguments to ask for its launches: the host may have to draw them."""


@dataclass(frozen=True)
class At:
    """The result at one shape; `why` in words, `line` of the source where known."""

    shape: Shape
    result: Result = "no_answer"
    why: str = ""
    line: int | None = None
    case: Case | None = None
    call: Call | None = None

    def evidence(self) -> JsonValue:
        """Return the values for the record; not under `shape`, since no kernel has to be right there."""
        values: dict[str, JsonValue] = {"sizes": dict(self.shape), "result": self.result}
        return values | ({"why": self.reason} if self.why else {}) | ({"line": self.line} if self.line else {})

    @property
    def reason(self) -> str:
        """`why` as one short line: it may quote an exception of the source."""
        return sanitizer.line(self.why, limit=LONGEST)


def called(target: Target, shapes: Sequence[Shape], *, most: int | None = None) -> list[At]:
    """Return the results at the shapes, in order, without shapes that are too much work for `most`, by default
    MOST_WORK. On the emulated device every access is checked. Raises SessionBroken: no inputs could be made. Raises
    ProtocolViolated: a message of a session was not sent by our own code."""
    made = list(zip(shapes, _cases(target, shapes, most or MOST_WORK[target.built.tensor_device]), strict=True))
    calls = iter(_calls(target, [case for _, case in made if isinstance(case, Case)]))
    found = []
    for shape, case in made:
        if isinstance(case, Case):
            found.append(_at(target, case, next(calls)))
        elif case is not None:
            found.append(At(shape, "not_taken", case))
    return found


def launched(target: Target, base: At, found: Sequence[At]) -> list[At]:
    """Return the launches of the host code at sizes with the most blocks along y or z, and one block more. Empty where
    this device cannot run host code without kernels, or where launches may depend on values."""
    shapes = [shape for name in base.shape for shape in _at_limits(name, base, found)]
    if target.built.tensor_device == "cuda" or claimed_launches.reads_back(target) or not shapes:
        return []
    try:
        return [_of_launches(one) for one in claimed_shape.launched(target, shapes)]
    except ProtocolViolated:
        raise
    except (SessionBroken, Unsupported):
        return []


def _cases(target: Target, shapes: Sequence[Shape], most: int) -> list[Case | str | None]:
    """Return the case of each shape, or why the task has none; None where it is too much work."""
    folder = Path(tempfile.mkdtemp(prefix="sizes-", dir=target.folder))
    device = target.built.tensor_device
    request = requests.Sized(
        reference=target.reference,
        shapes=tuple(shapes),
        most=most,
        seed=target.seed,
        relative=target.tolerance.relative,
        folder=folder,
        device=device,
    )
    reply = target.workers.call(request, limit_s=MADE_S)
    if not reply.finished:
        raise SessionBroken(f"reference.py gave no inputs of other sizes: {reply.ending}: {reply.detail}")
    made: list[Case | str | None] = []
    for index, (shape, event) in enumerate(zip(shapes, reply.events, strict=True)):
        if event["raised"] is not None or "expected_at" not in event:
            made.append(event["raised"])
            continue
        inputs = folder / f"{index}.inputs.pt"
        made.append(Case.made(reply, event, shape=shape, inputs=inputs, scope="other"))
    return made


def _calls(target: Target, cases: Sequence[Case]) -> list[Call | str]:
    """Return a call of each case, or why there is none: all in one process, or each in its own after that broke."""
    emulated = target.built.tensor_device == "cpu"  # checked calls take a GPU a minute
    mode = Mode(target.built.nan_memory, check=emulated and target.built.checks_accesses)
    calls: list[Call | str] = []
    together, broken = True, 0
    while len(calls) < len(cases) and broken < MOST_BROKEN:
        rest = cases[len(calls) :] if together else cases[len(calls) : len(calls) + 1]
        try:
            plan = [{"run": "claim", "case": index} for index in range(len(rest))]
            calls += _until_illegal(target.steps(plan, cases=rest, mode=mode, fresh=True))
        except ProtocolViolated:
            raise
        except (SessionBroken, Unsupported) as error:
            if not together or len(rest) == 1:
                calls.append(str(error))
                broken += 1
            together = False
    return [*calls, *["not asked: calls at other sizes did not come back"] * (len(cases) - len(calls))]


def _until_illegal(calls: list[Call]) -> list[Call]:
    """Return the calls up to the first with a GPU fault, after which the process takes no further call."""
    ended = next((index for index, call in enumerate(calls) if faulted(call.raised or "")), len(calls))
    return calls[: ended + 1]


def _at(target: Target, case: Case, call: Call | str) -> At:
    """Return the result of a call; an exception is a refusal."""
    if isinstance(call, str):
        return At(case.shape, "no_answer", call)
    if call.raised is not None:
        result: Result = "wrong" if faulted(call.raised) else "refused"
        return At(case.shape, result, f"the call raised {call.raised}", case=case)
    refused = next((launch for launch in call.launches if launch["refused"]), None)
    bad = next((one for one in target.built.located(call.reports) if is_proved(one)), None)
    try:
        compared = target.compared(call, case)
        right, why = compared.right, sentence(compared.evidence())
        if bad is None and not right and (none := _no_answer(target, case, call, compared.elements_wrong)):
            return At(case.shape, "not_taken", none)
    except ProtocolViolated:
        raise
    except SessionBroken as error:
        right, why = False, str(error)
    if bad is not None:
        return At(case.shape, "wrong", f"{bad['kind']}: {bad['message']}", bad["line"], case, call)
    if right:
        return At(case.shape, "right", case=case, call=call)
    if refused is not None:
        why = f"launch of {refused['kernel']} refused: {refused['refused']}"
    return At(case.shape, "wrong", why, refused["line"] if refused else None, case, call)


def _no_answer(target: Target, case: Case, call: Call, wrong: int) -> str | None:
    """Return why wrong elements say nothing of the kernel: the right ones are NaN, or all are zero and the call's are
    within the relative tolerance of it, as rounding of numbers around 1 is; else None."""
    undefined = int(np.count_nonzero(np.isnan(case.expected)))
    if wrong <= undefined:
        return f"the right result is NaN at {undefined:,} of its elements"
    zero = not case.expected.any()
    if zero and (np.abs(call.values().astype(np.float64)) <= target.tolerance.relative).all():
        return "the right result is zero everywhere, and what the kernel returns is rounding"
    return None


def _at_limits(name: str, base: At, found: Sequence[At]) -> Iterator[Shape]:
    """Yield the shapes at which a grid that grows with that size has the most blocks along y or z, and one more."""
    alone = [at for at in found if at.call and at.case and {**base.shape, name: at.shape[name]} == at.shape]
    grown = [(at, blocks) for at in alone if (blocks := _grown(base, at)) is not None]
    if not grown:
        return
    at, blocks = max(grown, key=lambda one: one[1])
    for most in (MOST_BLOCKS, MOST_BLOCKS + 1):
        size = at.shape[name] * most // blocks if most == MOST_BLOCKS else -(-at.shape[name] * most // blocks)
        if _bytes(name, base, at, size) <= MOST_BYTES:
            yield {**base.shape, name: size}


def _grown(base: At, at: At) -> int | None:
    """Return the most blocks along y or z of a launch that has more of them than at the base."""
    if base.call is None or at.call is None or at.shape == base.shape:
        return None
    pairs = zip(base.call.launches, at.call.launches, strict=False)
    grids = [(one["grid"], other["grid"]) for one, other in pairs if one["grid"] and other["grid"]]
    return max((now[axis] for was, now in grids for axis in (1, 2) if now[axis] > was[axis]), default=None)


def _bytes(name: str, base: At, at: At, size: int) -> float:
    """Estimate the arguments' bytes at a size of that name, by the growth of the result."""
    assert base.case is not None
    assert at.case is not None
    was, now = base.case.expected.size, at.case.expected.size
    power = max(1.0, abs(math.log(now / was) / math.log(at.shape[name] / base.shape[name])))
    elements: float = max(now, math.prod(at.shape.values())) * float(size / at.shape[name]) ** power
    return ELEMENT_BYTES * elements


def _of_launches(one: claimed_shape.Launched) -> At:
    if one.raised is not None:
        return At(one.shape, "refused", f"the call raised {one.raised}")
    if one.refused is None:
        return At(one.shape, "launched", "a GPU takes each launch; no kernel was run")
    why = f"launch of {one.refused['kernel']} refused: {one.refused['refused']}"
    return At(one.shape, "launch_refused", why, one.refused["line"])
