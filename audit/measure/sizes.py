"""Times beside the claimed size: at half of it, an odd one and the double, each from a session of fewer blocks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from audit.build.cuda import gpu
from audit.build.device import BuiltVariant
from audit.measure import prepared
from audit.measure.comparison import AGAIN, TIMED_OUTPUTS, UNDER_FLOOR, floor_here, rivals
from audit.measure.samples import OURS, SIZED
from audit.measure.timing import Session, Times
from audit.model import Finding, Measurement, Shape
from audit.model.errors import BadInput
from audit.probes.concluding.answer import label
from audit.probes.observing.cases import Case
from audit.sandbox import limits
from audit.sandbox.limits import GIB

NAME = "times_at_sizes"
LIMIT_S, LEAST_S = 60.0, 5.0
"""Seconds for all sizes, and those that must be left to begin with one."""
NEEDED = 8
"""The memory that a session needs, in units of its inputs and their float64 result, see `Case.bytes`."""
TUNED = "compile_max_autotune"
"""A baseline that takes too long to be compiled for each size."""


def around(claimed: Shape) -> list[Shape]:
    """Return the shape with half its greatest size, with an odd one and with the double; equal sizes change together.
    Empty for sizes too small to be those of a tensor."""
    size = max(claimed.values(), default=0)
    scaled = [name for name in claimed if claimed[name] == size]
    sizes = (size // 2, size - 1 - size % 2, 2 * size) if size >= 8 else ()
    return [{**claimed, **dict.fromkeys(scaled, one)} for one in sizes]


@dataclass(frozen=True)
class At:
    """What is known of a shape: why it has no times, or its floors, and why callables were left out."""

    shape: Shape
    why: str = ""
    floor: dict[str, JsonValue] = field(default_factory=dict)
    """With the `seconds` that the size took."""
    left_out: dict[str, JsonValue] = field(default_factory=dict)


def times(session: Session, built: Mapping[str, BuiltVariant]) -> Times:
    """Time those builds beside eager and the strongest baselines at each shape of `around`: the measurements, and one
    finding about all sizes. Findings of these sessions are about no claimed shape, so they are reasons in it alone."""
    known = [one for one in session.known if not one.variant.endswith(TUNED)]
    baselines, until = rivals(session.claim, known, list(built)), time.monotonic() + LIMIT_S
    taken: list[Measurement] = []
    entries: list[At] = []
    for shape in around(session.case.shape):
        found, about = _at(shape, session, built, baselines, until)
        taken += found
        entries.append(about)
    return Times(tuple(taken), (finding(entries, target=session.claim.name),) if entries else ())


def refused(claimed: Case, shape: Shape, memory: int, left_s: float) -> str:
    """Return why there is no room for a shape: seconds, or `memory` in bytes, of which the need grows at least with the
    square of a size; empty where there is."""
    changed = [shape[name] / size for name, size in claimed.shape.items() if shape[name] != size]
    needed = NEEDED * claimed.bytes * max(changed) ** max(2, len(changed))
    here = min(memory, limits.memory_bytes())
    if needed > here:
        return f"its session may need {needed / GIB:.1f} GiB of memory, and there are {here / GIB:.1f} GiB"
    return "" if left_s >= LEAST_S else f"the {LIMIT_S:g} s for other sizes were spent"


def _at(
    shape: Shape, session: Session, built: Mapping[str, BuiltVariant], baselines: Sequence[str], until: float
) -> tuple[list[Measurement], At]:
    """Return the times at a shape, and what is known of it."""
    try:
        chip = gpu.find()
    except BadInput as error:  # the driver answers no more
        return [], At(shape, str(error))
    if why := refused(session.case, shape, chip.memory_mib << 20, until - time.monotonic()):
        return [], At(shape, why)
    began = time.monotonic()
    with TemporaryDirectory(dir=session.case.inputs.parent) as folder:
        seeds = (session.seed + 2, session.seed + 3)
        reply, cases = prepared.cases(session.workers, reference=session.reference, shape=shape, seeds=seeds,
                                      folder=Path(folder), limit_s=until - time.monotonic())  # fmt: skip
        if not cases:
            return [], At(shape, f"reference.py gave no inputs: {reply.ending}: {reply.detail}")
        own = session.at(cases, until=until)
        own.interleaved(label(shape), built, baselines=baselines, brief=True)
        found, left_out = counted(own.taken())
    floor = floor_here(chip.name, reply.events[0]["cost"]).evidence | {"seconds": round(time.monotonic() - began, 1)}
    return found, At(shape, "" if found else "no right result was timed", floor, left_out)


def counted(taken: Times) -> tuple[list[Measurement], dict[str, JsonValue]]:
    """Return the times of callables whose results were right in every timed call, and why others have none."""
    right = {one.target for one in taken.findings if one.probe == TIMED_OUTPUTS and one.outcome == "pass"}
    against = (TIMED_OUTPUTS, UNDER_FLOOR)
    left_out: dict[str, JsonValue] = {
        one.target: one.summary
        for one in taken.findings
        if one.outcome == "error" or (one.outcome == "fail" and one.probe in against)
    }
    cold = [one for one in taken.measurements if one.protocol == OURS]
    counts = [one for one in cold if one.variant.removeprefix(AGAIN) in right - left_out.keys()]
    return [one.model_copy(update={"protocol": SIZED}) for one in counts], left_out


def finding(entries: Sequence[At], *, target: str) -> Finding:
    """Return what is known of all sizes; a skip where none has a time."""
    timed = [label(one.shape) for one in entries if not one.why]
    parts = [f"timed at {', '.join(timed)} too"] if timed else []
    parts += [f"{label(one.shape)}: NOT MEASURED: {one.why}" for one in entries if one.why]
    parts += [f"{label(one.shape)}: {name}: {why}" for one in entries for name, why in one.left_out.items()]
    rows: list[JsonValue] = [
        {"sizes": dict(one.shape), "why": one.why or None, "left_out": one.left_out, **one.floor} for one in entries
    ]
    return Finding(probe=NAME, target=target, outcome="pass" if timed else "skip", summary="; ".join(parts),
                   evidence={"sizes": rows})  # fmt: skip
