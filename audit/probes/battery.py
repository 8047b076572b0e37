"""Two sessions that several probes read: many calls in one process, each right or wrong for its own inputs.

What a call returns must depend on the values it is given now and on nothing else: not on addresses, shapes, earlier
calls or their number.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Call, Case
from audit.probes.compare import Comparison
from audit.probes.target import Step, Target
from audit.probes.variations import DISCRIMINATING, TIES, WHOLE_NUMBER, Variation, Varied, wanted

AGAIN, REPEAT, AFTER = "first_again", "repeat", "after_repeat"
FREED, WHOLE = "_in_freed_memory", "whole_numbers"
SAME_BUFFERS = ("moved", "other", "inputs")
"""Groups whose variations are written into the buffers of the first call, each right behind its values."""
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
        if least_scale not in self._compared:
            self._compared[least_scale] = target.compared(self.call, self.case, least_scale=least_scale)
        return self._compared[least_scale]


def at_middle(target: Target) -> dict[str, Asked]:
    """Every variation at the middle case in one process; `first` is a plain call.

    The last ones are `repeat`, many calls whose contents take turns, with the first result for each of them beside it,
    and a call for each behind it.

    Variations of `SAME_BUFFERS` are written into the buffers of the first call, past torch's version counters. Their
    order is drawn, and the first values come again before each: what a cache of one entry holds is then what the
    variation was made from. Distributions have buffers of their own, since that question is about values.
    """
    return target.once("battery at the middle case", lambda: _at_middle(target))


def at_largest(target: Target) -> dict[str, Asked]:
    """`first`, `other_values` and `discriminating` in the same buffers, and `held`, the first result looked at again
    after those."""
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
    draw = random.Random(zlib.crc32(varied.case.expected.tobytes()))
    good = trusted(target, varied)
    plan: list[Planned] = [("first", varied.case, {}, ""), *_rewritten(varied, draw), *_elsewhere(varied)]
    plan += [(one.name, one.case, {"into": 0}, one.group) for one in _whole(good)]
    drawn: list[Planned] = [(one.name, one.case, {}, "distributions") for one in good if one.group != WHOLE]
    told = {name for name, *_ in drawn}
    plan += [
        *drawn,
        *((one.name, one.case, {}, one.group) for one in varied.of(DISCRIMINATING) if one.name not in told),
    ]
    planned = _Planned()
    planned.add(plan)
    taking_turns = _taking_turns(varied, good)
    planned.add_in_turn(REPEAT, taking_turns, draw)
    planned.add((f"{AFTER}_{place}", one, {"into": 0}, "") for place, one in enumerate(taking_turns))
    python = target.variant.file.endswith(".py")  # what importing it changes shows in a fresh process only
    return planned.asked(target, fresh=python)


def _rewritten(varied: Varied, draw: random.Random) -> Iterator[Planned]:
    same = [one for group in SAME_BUFFERS for one in varied.of(group) if one.kind != WHOLE_NUMBER]
    for place, one in enumerate(draw.sample(same, len(same))):
        if place:
            yield f"{AGAIN}_{place}", varied.case, {}, "again"
        yield one.name, one.case, {"into": 0}, one.group


def _elsewhere(varied: Varied) -> Iterator[Planned]:
    """The same values at new addresses, and then other ones in the memory that those have left."""
    yield "new_addresses", varied.case, {"fresh": True}, ""
    for one in varied.of("other"):
        yield f"{one.name}{FREED}", one.case, {"fresh": True}, ""


def _whole(good: Sequence[Variation]) -> list[Variation]:
    """Whole numbers, then the same with two exchanged; nothing where the first of them says nothing."""
    found = [one for one in good if one.group == WHOLE]
    return found if found and found[0].name == WHOLE else []


def _taking_turns(varied: Varied, good: Sequence[Variation]) -> list[Case]:
    """Cases whose contents take turns in the repeated call: the first values, others and, if possible, a third kind."""
    third = [one.case for one in good if one.group == "distributions"][:1]
    return [varied.case, *(one.case for one in varied.of("other")), *third]


def _at_largest(target: Target) -> dict[str, Asked]:
    varied = wanted(target).largest
    look = {"snapshot": True, "hold": True}
    plan: list[Planned] = [("first", varied.case, look, "")]
    later = [*varied.of("other"), *(one for one in trusted(target, varied) if one.group == DISCRIMINATING)]
    plan += [(one.name, one.case, {"into": 0, "snapshot": True}, one.group) for one in later]
    plan += [("held", varied.case, {"run": "held", "of": 0}, "")]
    planned = _Planned()
    planned.add(plan)
    return planned.asked(target, fresh=False)


def trusted(target: Target, varied: Varied) -> list[Variation]:
    """The distributions at which a sound result of the declared precision stays well inside the tolerance.

    Elsewhere (overflow, cancellation) an honest kernel may be off too, and a difference would say nothing; so too where
    the result hangs on ties that the distribution makes, or has infinities and NaN that the case's own has not.
    """
    limit = target.relative(varied.case) / 2
    kinds = {"fp32", target.variant.precision, TIES}
    holes = np.isfinite(varied.case.expected)
    return [
        one
        for group in (DISCRIMINATING, "distributions", WHOLE)
        for one in varied.of(group)
        if all((need := one.headroom[kind]) is not None and need <= limit for kind in kinds)
        and np.array_equal(np.isfinite(one.case.expected), holes)
    ]


class _Planned:
    """The calls of a session as they come to be planned, and the cases they are about."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, Case, str]] = []
        self._cases: list[Case] = []
        self._steps: list[Step] = []

    def add(self, calls: Iterable[Planned]) -> None:
        """More calls, in this order."""
        for what, case, options, group in calls:
            self._calls.append((what, case, group))
            self._steps.append({"run": "claim", "case": self._number(case), **options})

    def add_in_turn(self, what: str, cases: Sequence[Case], draw: random.Random) -> None:
        """One step of many calls: half of them with the contents of the first case, as a plain loop has them, then as a
        timer may have them, with the cases taking turns and much memory overwritten before each."""
        numbers = [self._number(case) for case in cases]
        count = repeats(cases[0])
        order = [numbers[0]] * (count // 2)
        while len(order) < count:
            order.append(draw.choice([one for one in numbers if one != order[-1]] or numbers))
        self.add([(what, cases[0], {"into": 0, "order": order, "flush_from": count // 2}, "")])

    def asked(self, target: Target, *, fresh: bool) -> dict[str, Asked]:
        """What came of every call, by its name."""
        calls = target.steps(self._steps, cases=self._cases, memory=target.built.nan_memory, fresh=fresh)
        told: dict[str, Asked] = {}
        for (what, case, group), call, step in zip(self._calls, calls, self._steps, strict=True):
            kept = case if "order" not in step or call.raised else self._cases[step["order"][call.event["kept"]]]
            told[what] = Asked(what, kept, call, group)
            for first in call.event.get("firsts", ()):
                told[f"{what}_{first['of']}"] = self._first(what, call, first)
        return told

    def _first(self, what: str, call: Call, first: dict[str, Any]) -> Asked:
        """The first result of a sequence for a case's contents."""
        file = call.file.with_name(f"{call.file.stem}-{first['of']}.bin")
        event = {**call.event, **{key: first[key] for key in ("shape", "dtype", "digest")}}
        return Asked(f"{what}_{first['of']}", self._cases[first["of"]], Call(event, file, call.forged))

    def _number(self, case: Case) -> int:
        known = [one.inputs for one in self._cases]
        if case.inputs not in known:
            self._cases.append(case)
        return [*known, case.inputs].index(case.inputs)
