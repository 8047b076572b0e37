"""Two sessions that several probes read: many calls in one process, each right or wrong for its own inputs.

What a call returns must depend on the values it is given now and on nothing else: not on addresses, shapes, earlier
calls or their number.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Call, Case, value_calls
from audit.probes.compare import Comparison, compare
from audit.probes.target import Step, Target
from audit.probes.variations import DISCRIMINATING, Variation, Varied, wanted

FEWEST_REPEATS, MORE_REPEATS = 24, 17
Planned = tuple[str, Case, dict[str, Any], str]
"""A call in words, its case, the options of its step, and the group of its variation."""


@dataclass(frozen=True)
class Asked:
    """One call of a session: in words, its case, and what came back."""

    what: str
    case: Case
    call: Call
    group: str = ""
    _compared: dict[float, Comparison] = field(default_factory=dict, init=False, compare=False, repr=False)

    def compared(self, target: Target, *, least_scale: float = 0.0) -> Comparison:
        """The result against what is right for the inputs of this very call; several probes ask about the same one."""
        value_calls([self.call], [self.case.expected])
        if least_scale not in self._compared:
            got, want = self.call.values(), self.case.expected
            self._compared[least_scale] = compare(got, want, target.tolerance, least_scale=least_scale)
        return self._compared[least_scale]


def at_middle(target: Target) -> dict[str, Asked]:
    """Every variation at the middle case in one process; `first` is a plain call, the last ones come after `repeat`.

    Variations of the groups other, moved and inputs are written into the buffers of the first call; distributions have
    buffers of their own, since that question is about values.
    """
    return target.once("battery at the middle case", lambda: _at_middle(target))


def at_largest(target: Target) -> dict[str, Asked]:
    """`first`, `other_values` in the same buffers, and `held`, the first result looked at again after that."""
    return target.once("battery at the largest case", lambda: _at_largest(target))


def premise(name: str, target: Target, first: Asked) -> Finding | None:
    """A skip where the very first call is wrong already: then nothing follows from later ones."""
    if first.compared(target).right:
        return None
    text = f"not asked: {first.case.label}: the first call is already wrong; see agreement"
    return answer(name, target, "skip", text, evidence={"shape": dict(first.case.shape)})


def too_large(name: str, target: Target, first: Asked) -> Finding | None:
    """A skip of a question about values where the middle case is too large for it."""
    if name in wanted(target).middle.groups:
        return None
    text = f"not asked: {first.case.label}: too large for many calls; a smaller shape in `others` would be asked"
    return answer(name, target, "skip", text, evidence={"shape": dict(first.case.shape)})


def repeats(case: Case) -> int:
    """How often the repeated call runs: a number nobody can know before the audit, the same for the same inputs."""
    return FEWEST_REPEATS + zlib.crc32(case.expected.tobytes()) % MORE_REPEATS


def _at_middle(target: Target) -> dict[str, Asked]:
    varied = wanted(target).middle
    # moved first, right behind the values they differ from in one element: a cache by a sample is still full of those
    same_buffers = [one for group in ("moved", "other", "inputs") for one in varied.of(group)]
    plan: list[Planned] = [("first", varied.case, {}, "")]
    plan += [(one.name, one.case, {"into": 0}, one.group) for one in same_buffers]
    plan += [("new_addresses", varied.case, {"fresh": True}, "")]
    drawn: list[Planned] = [(one.name, one.case, {}, "distributions") for one in trusted(target, varied)]
    told = {name for name, *_ in drawn}
    plan += [
        *drawn,
        *((one.name, one.case, {}, one.group) for one in varied.of(DISCRIMINATING) if one.name not in told),
    ]
    plan += [("repeat", varied.case, {"times": repeats(varied.case)}, "")]
    plan += [(f"{one.name}_after_repeat", one.case, {"into": 0}, "") for one in varied.of("other")]
    python = target.variant.file.endswith(".py")  # what importing it changes shows in a fresh process only
    return _asked(target, plan, fresh=python)


def _at_largest(target: Target) -> dict[str, Asked]:
    varied = wanted(target).largest
    look = {"snapshot": True, "hold": True}
    plan: list[Planned] = [("first", varied.case, look, "")]
    plan += [(one.name, one.case, {"into": 0, "snapshot": True}, one.group) for one in varied.of("other")]
    plan += [("held", varied.case, {"run": "held", "of": 0}, "")]
    return _asked(target, plan, fresh=False)


def trusted(target: Target, varied: Varied) -> list[Variation]:
    """The distributions at which a sound result of the declared precision stays well inside the tolerance.

    Elsewhere (overflow, cancellation) an honest kernel may be off too, and a difference would say nothing.
    """
    limit = target.tolerance.relative / 2
    kinds = {"fp32", target.variant.precision}
    return [
        one
        for group in (DISCRIMINATING, "distributions")
        for one in varied.of(group)
        if all((need := one.headroom[kind]) is not None and need <= limit for kind in kinds)
    ]


def _asked(target: Target, plan: Sequence[Planned], *, fresh: bool) -> dict[str, Asked]:
    cases: list[Case] = []
    steps: list[Step] = []
    for _, case, options, _ in plan:
        known = [one.inputs for one in cases]
        if case.inputs not in known:
            cases.append(case)
        steps.append({"run": "claim", "case": [*known, case.inputs].index(case.inputs), **options})
    calls = target.steps(steps, cases=cases, memory=target.built.nan_memory, fresh=fresh)
    return {what: Asked(what, case, call, group) for (what, case, _, group), call in zip(plan, calls, strict=True)}
