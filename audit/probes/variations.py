"""Other inputs for a target's cases, made once an audit by a process that never sees claimed code."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from audit.build.settings import TensorDevice
from audit.model import Tolerance
from audit.model.errors import AuditError
from audit.probes.cases import Case, largest_of, middle_of
from audit.probes.target import Target
from audit.run import requests
from audit.run.pool import Reply, Workers

ASSERTED = "device-side assert"
"""In the words of what a GPU raises where a kernel of torch's refuses an index."""
LIMIT_S = 300.0
"""Of a process that computes right results."""
ALWAYS = ("other", "moved", "whole_numbers", "discriminating", "graded", "inputs")
DRAWN_ALIKE = ("other", "moved", "whole_numbers", "inputs")
"""Groups whose results have the usual size of the case's."""
BY_VALUE = ("distributions", "nonfinite")
"""Groups of questions about values, which need no large case; beside a GPU the emulated device asks them at its own."""
MOST_BYTES = 512 << 20
"""Of a case's inputs and right result: above it no question by value, whose calls take seconds and gigabytes each."""
OTHER, TIES, ROUNDING = "other_values", "ties", "rounding"
WHOLE_NUMBER = "whole number"
"""The kind of an argument, see `audit.run.changes.Kind`."""
DISCRIMINATING, GRADED = "discriminating", "graded"
"""Inputs at which a task can tell where those of a benchmark cannot, and some of which no part stands for the whole."""


class NoVariations(AuditError):
    """The reference could not be asked for other inputs; says why."""


@dataclass(frozen=True)
class Variation:
    """A case with other inputs.

    Attributes:
        name: what is other about them, `uniform` for instance.
        group: the question they are for: other, moved, discriminating, graded, inputs, distributions, nonfinite.
        case: the inputs and what is right for them.
        headroom: for each number format, the relative tolerance a sound result needs that only rounds its inputs to
            it (`fp32`: the reference itself), under TIES what one needs that breaks ties between inputs otherwise, and
            under ROUNDING what one needs that rounds on its way; None where no tolerance is enough.
        trivial: of discriminating inputs, how many elements of each trivial candidate are wrong; zero is a candidate
            that they cannot tell from a right result.
        moved: elements of the right result that a change made for that moves; None where none was.
        how: of one argument replaced, how, in words.
        kind: what that argument is, see `audit.run.changes.Kind`.
        outside: whether values leave the range that the case's own are drawn from, where it has ends.
    """

    name: str
    group: str
    case: Case
    headroom: dict[str, float | None]
    trivial: dict[str, int] = field(default_factory=dict)
    moved: int | None = None
    how: str = ""
    kind: str = ""
    outside: bool = False


@dataclass(frozen=True)
class Varied:
    """A case with all its variations.

    Attributes:
        case: the case itself.
        groups: the groups that were asked for; a large case lacks those BY_VALUE.
        bits: effective bits of the reference (`fp32`) and of the oracle on rounded inputs (`tf32`, `fp16`, `bf16`),
            None where they say nothing.
        trivial: how many elements of each trivial candidate are wrong at the case's own inputs.
        inputs: a name for each argument, and for each value within containers.
        variations: the same shapes with other inputs.
    """

    case: Case
    groups: tuple[str, ...]
    bits: dict[str, float | None]
    trivial: dict[str, int]
    inputs: tuple[str, ...]
    variations: tuple[Variation, ...]

    def of(self, group: str) -> list[Variation]:
        """The variations of one group, in order."""
        return [one for one in self.variations if one.group == group]


@dataclass(frozen=True)
class Wanted:
    """What all probes together need: every group at the middle case; other values at the largest, discriminating and
    graded ones."""

    middle: Varied
    largest: Varied


_lock = threading.Lock()
_known: WeakKeyDictionary[Workers, dict[tuple[Path, Path], Wanted]] = WeakKeyDictionary()
"""By the workers of an audit, so that nothing outlives it."""


def wanted(target: Target) -> Wanted:
    """The variations of the target's cases; the variants of an audit share them.

    Raises:
        NoVariations: the reference did not answer.
    """
    return ahead(
        target.cases,
        workers=target.workers,
        reference=target.reference,
        device=target.built.tensor_device,
        tolerance=target.claim.tolerance,
    )


def ahead(
    cases: Sequence[Case], *, workers: Workers, reference: Path, device: TensorDevice, tolerance: Tolerance
) -> Wanted:
    """The same before anything is built, so that no variant has to wait for it.

    Args:
        cases: all cases of a device.
        workers: where to compute.
        reference: the claim's reference.py.
        device: where the oracle computes.
        tolerance: the claim's: whether a task can tell is a question to it.
    """
    middle, largest = middle_of(cases), largest_of(cases)
    with _lock:  # the first to ask computes for all
        key = (middle.inputs, largest.inputs)
        known = _known.setdefault(workers, {})
        if key not in known:
            plan = [(middle, groups_of(middle))]
            if largest.inputs != middle.inputs:
                plan.append((largest, ["other", DISCRIMINATING, GRADED]))
            vary = (requests.Vary(inputs=one.inputs, shape=one.shape, groups=tuple(asked)) for one, asked in plan)
            request = requests.Variations(
                reference=reference, device=device, relative=tolerance.relative, vary=tuple(vary)
            )
            reply = workers.call(request, limit_s=LIMIT_S)
            if device == "cuda" and ASSERTED in reply.detail:  # after it, a process can ask that GPU nothing more
                reply = workers.call(request.model_copy(update={"device": "cpu"}), limit_s=LIMIT_S)
            known[key] = _made(plan, reply)
        return known[key]


def of_case(target: Target, case: Case) -> Variation | None:
    """The variation whose inputs those are; None for the inputs of a case itself."""
    known = wanted(target)
    every = (*known.middle.variations, *known.largest.variations)
    return next((one for one in every if one.case.inputs == case.inputs), None)


def _made(plan: Sequence[tuple[Case, list[str]]], reply: Reply) -> Wanted:
    if not reply.finished:
        raise NoVariations(f"reference.py gave no other inputs: {reply.ending}: {reply.detail}")
    made = [_varied(case, asked, reply, of) for of, (case, asked) in enumerate(plan)]
    return Wanted(middle=made[0], largest=made[-1])


def groups_of(case: Case) -> list[str]:
    """The groups of variations that are made of a middle case."""
    return [*ALWAYS, *(() if case.bytes > MOST_BYTES else BY_VALUE)]


def _varied(case: Case, groups: Sequence[str], reply: Reply, of: int) -> Varied:
    first, *events = (event for event in reply.events if event["of"] == of)
    made = tuple(_variation(case, reply, event) for event in events)
    return Varied(case, tuple(groups), first["bits"], first["trivial"], tuple(first["inputs"]), made)


def _variation(case: Case, reply: Reply, event: dict[str, Any]) -> Variation:
    stem = Path(event["stem"])
    inputs = stem.with_name(f"{stem.name}.inputs.pt")
    other = replace(case, inputs=inputs).answered(reply, event)
    if event["group"] not in DRAWN_ALIKE:
        other = replace(other, size=0.0, outputs=tuple(replace(one, size=0.0) for one in other.outputs))
    more = {key: event[key] for key in ("trivial", "moved", "how", "kind", "outside") if key in event}
    return Variation(event["variation"], event["group"], other, event["headroom"], **more)
