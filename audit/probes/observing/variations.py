"""Other inputs for a target's cases, made once an audit in a process without claimed code."""

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
from audit.probes.observing.cases import Case, largest_of, middle_of
from audit.probes.observing.target import Target
from audit.run.messages import requests
from audit.run.processes.pool import Reply, Workers

ASSERTED = "device-side assert"
"""Part of the exception of a GPU where a kernel of torch refuses an index."""
LIMIT_S = 300.0
"""The time limit of a process that computes right results."""
GROUPS = (
    "other", "moved", "whole_numbers", "discriminating", "graded", "inputs", "reordered", "distributions", "nonfinite",
)  # fmt: skip
"""All groups of variations, in the order in which they are made."""
DRAWN_ALIKE = ("other", "moved", "whole_numbers", "inputs", "reordered")
"""Groups whose results have the usual rms of the case's."""
MOST_BYTES, MOST_BYTES_OF_INPUTS = 512 << 20, 1 << 31
"""The most bytes of a case's inputs and right result for all groups, and for the group "inputs": each variation takes
as many bytes again."""
ALWAYS = ("other", "discriminating", "graded")
"""The groups of a larger case."""
OTHER, TIES, ROUNDING = "other_values", "ties", "rounding"
WHOLE_NUMBER, COUNTS = "whole number", "counts"
"""Kinds of arguments, see `audit.run.inputs.redrawn.Kind`. A kernel made for one number or for equal counts may crash
at others, so each kind is asked in a process of its own."""
APART = (WHOLE_NUMBER, COUNTS)
DISCRIMINATING, GRADED = "discriminating", "graded"
"""Inputs that distinguish results where a benchmark's cannot, and inputs of which no part represents the whole."""


class NoVariations(AuditError):
    """The reference gave no other inputs; the text says why."""


@dataclass(frozen=True)
class Variation:
    """A case with other inputs.

    Attributes:
        name: the name of the variation, `uniform` for instance.
        group: other, moved, discriminating, graded, inputs, reordered, distributions or nonfinite.
        case: the inputs and their right result.
        headroom: the relative tolerance that a sound result needs: with inputs rounded to each number format (`fp32`:
            the reference itself), under TIES with ties between inputs broken otherwise, and under ROUNDING with
            rounded intermediate values; None where no tolerance is enough.
        trivial: for discriminating inputs, the number of wrong elements of each trivial candidate.
        moved: the elements of the right result that the change moves; None where it is not measured.
        how: the replacement of one argument, in words; of a reordered one, the order that every draw has.
        kind: the kind of that argument, see `audit.run.inputs.changes.Kind`.
        outside: whether values leave the bounded range of the case's own draws.
        steps: how many steps one element was moved by until the right result showed it.
        tied: whether the right result hangs on equal numbers, by the reference's own rule for them.
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
    steps: float = 1.0
    tied: bool = False


@dataclass(frozen=True)
class Varied:
    """A case with all its variations.

    Attributes:
        groups: the requested groups, see `groups_of`.
        bits: effective bits of the reference (`fp32`) and of the oracle on rounded inputs (`tf32`, `fp16`, `bf16`),
            None where they are undefined.
        trivial: the number of wrong elements of each trivial candidate at the case's own inputs.
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
        """Return the variations of one group, in order."""
        return [one for one in self.variations if one.group == group]


@dataclass(frozen=True)
class Wanted:
    """The variations of all probes: every group at the middle case; values, discriminating, graded at the largest."""

    middle: Varied
    largest: Varied


_lock = threading.Lock()
_known: WeakKeyDictionary[Workers, dict[tuple[Path, Path], Wanted | str]] = WeakKeyDictionary()
"""By the workers of an audit, so that no entry outlives it; a text where there are none, for NoVariations."""


def wanted(target: Target) -> Wanted:
    """Return the variations of the target's cases, which the variants of an audit share. Raises NoVariations: the
    reference did not answer."""
    return made_for(
        target.cases,
        workers=target.workers,
        reference=target.reference,
        device=target.built.tensor_device,
        tolerance=target.claim.tolerance,
    )


def made_for(
    cases: Sequence[Case], *, workers: Workers, reference: Path, device: TensorDevice, tolerance: Tolerance
) -> Wanted:
    """Return the variations of all cases of a device, made once; called before a build ends, no variant waits."""
    middle, largest = middle_of(cases), largest_of(cases)
    with _lock:  # the first caller computes for all
        key = (middle.inputs, largest.inputs)
        known = _known.setdefault(workers, {})
        if key not in known:
            plan = [(middle, groups_of(middle))]
            if largest.inputs != middle.inputs:
                plan.append((largest, ["other", DISCRIMINATING, GRADED]))
            vary = tuple(requests.Vary(inputs=one.inputs, shape=one.shape, groups=tuple(asked)) for one, asked in plan)
            request = requests.Variations(reference=reference, device=device, relative=tolerance.relative, vary=vary)
            reply = workers.call(request, limit_s=LIMIT_S)
            if device == "cuda" and ASSERTED in reply.detail:  # the process cannot use that GPU any more
                reply = workers.call(request.model_copy(update={"device": "cpu"}), limit_s=LIMIT_S)
            failed = f"reference.py gave no other inputs: {reply.ending}: {reply.detail}"
            known[key] = _made([case for case, _ in plan], vary, reply) if reply.finished else failed
        found = known[key]
    if isinstance(found, str):
        raise NoVariations(found)
    return found


def of_case(target: Target, case: Case) -> Variation | None:
    """Return the variation with those inputs; None for the inputs of a case itself."""
    known = wanted(target)
    every = (*known.middle.variations, *known.largest.variations)
    return next((one for one in every if one.case.inputs == case.inputs), None)


def _made(cases: Sequence[Case], vary: Sequence[requests.Vary], reply: Reply) -> Wanted:
    made = [_varied(case, asked, reply, of) for of, (case, asked) in enumerate(zip(cases, vary, strict=True))]
    return Wanted(middle=made[0], largest=made[-1])


def groups_of(case: Case) -> list[str]:
    """Return the groups of variations of a middle case; of a large one fewer."""
    if case.bytes <= MOST_BYTES:
        return [*GROUPS]
    return [*ALWAYS, *(["inputs"] if case.bytes <= MOST_BYTES_OF_INPUTS else [])]


def _varied(case: Case, asked: requests.Vary, reply: Reply, of: int) -> Varied:
    first, *events = (event for event in reply.events if event["of"] == of)
    made = tuple(_variation(case, asked.beside(event["variation"]), reply, event) for event in events)
    return Varied(case, asked.groups, first["bits"], first["trivial"], tuple(first["inputs"]), made)


def _variation(case: Case, inputs: Path, reply: Reply, event: dict[str, Any]) -> Variation:
    other = replace(case, inputs=inputs).answered(reply, event)
    if event["group"] not in DRAWN_ALIKE:
        other = replace(other, size=0.0, outputs=tuple(replace(one, size=0.0) for one in other.outputs))
    more = {key: event[key] for key in ("trivial", "moved", "how", "kind", "outside", "steps", "tied") if key in event}
    return Variation(event["variation"], event["group"], other, event["headroom"], **more)
