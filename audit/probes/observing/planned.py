"""The plan of a session: its calls, in parts with names of their own, and how many of them are made."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from audit.probes.concluding.compare import Comparison
from audit.probes.observing.called import Call, Mode, Step
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target

FEWEST_REPEATS, MORE_REPEATS = 24, 17
REPEATS_S, MOST_REPEATS = 0.5, 256
"""The time and the most repeated calls: claimed code may begin to cache results after some calls."""
SLOW_S, FEWEST_SLOW, MORE_SLOW = 8.0, 8, 5
"""The time of the fewest repeated calls beyond which fewer are made, and the first values come again once;
`repeat` makes many more without kernels."""
PlannedCall = tuple[str, Case, dict[str, Any], str]
"""A call's name, its case, the options of its step, and the group of its variation. Here the option `into` is a case
and `of` the name of an earlier call."""


@dataclass(frozen=True)
class Asked:
    """One call of a session, or many in turn: its name, its case, the last call, and the cases of many by number."""

    what: str
    case: Case
    call: Call
    group: str = ""
    order: Sequence[int] = ()

    def compared(self, target: Target) -> Comparison:
        """Compare the result with the right one for this call's inputs."""
        return target.compared(self.call, self.case)


def is_slow(call_s: float) -> bool:
    """Return whether the fewest repeated calls take longer than SLOW_S."""
    return FEWEST_REPEATS * call_s > SLOW_S


def repeats(case: Case, call_s: float) -> int:
    """Return the number of repeated calls, which is unknown before the audit and grows as calls get shorter."""
    if is_slow(call_s):
        return max(FEWEST_SLOW, int(SLOW_S / call_s)) + case.seed % MORE_SLOW
    fitting = min(MOST_REPEATS, int(REPEATS_S / call_s)) if call_s else MOST_REPEATS
    return max(FEWEST_REPEATS, fitting - MORE_REPEATS) + case.seed % MORE_REPEATS


class Plan:
    """The planned calls of a session and their cases; `slow` where a call takes so long that fewer are made."""

    def __init__(self, *, call_s: float) -> None:
        self._call_s, self.slow = call_s, is_slow(call_s)
        self._calls: list[tuple[str, Case, str]] = []
        self._cases: list[Case] = []
        self._steps: list[Step] = []
        self._begun: list[int] = []

    def begin(self) -> None:
        """Begin another part, with its own names of calls; it has one at least."""
        self._begun.append(len(self._calls))

    def add(self, calls: Iterable[PlannedCall]) -> None:
        """Add calls, in order."""
        for what, case, options, group in calls:
            step = {"run": "claim", "case": self._number(case), **options}
            if "into" in options:
                step["into"] = self._number(options["into"])
            if "of" in options:
                names = [name for name, *_ in self._calls]
                step["of"] = names.index(options["of"], self._begun[-1])
            self._calls.append((what, case, group))
            self._steps.append(step)

    def add_in_turn(self, what: str, cases: Sequence[Case], draw: random.Random) -> None:
        """Add one step of many calls: half of them with the contents of the first case, as in a plain loop, the others
        as in a timer, with alternating cases and memory overwritten before each."""
        numbers = [self._number(case) for case in cases]
        count = repeats(cases[0], self._call_s)
        order = [numbers[0]] * (count // 2)
        while len(order) < count:
            order.append(draw.choice([one for one in numbers if one != order[-1]] or numbers))
        self.add([(what, cases[0], {"into": cases[0], "order": order, "flush_from": count // 2}, "")])

    def asked(self, target: Target, mode: Mode, *, fresh: bool) -> list[dict[str, Asked]]:
        """Make every call; return the calls by name, part by part."""
        calls = target.steps(self._steps, cases=self._cases, mode=mode, fresh=fresh)
        found: list[dict[str, Asked]] = []
        for index, ((what, case, group), call, step) in enumerate(zip(self._calls, calls, self._steps, strict=True)):
            found += [{}] if index in self._begun else []
            kept = case if "order" not in step or call.raised else self._cases[step["order"][call.event["kept"]]]
            found[-1][what] = Asked(what, kept, call, group, step.get("order", ()))
            for first in call.event.get("firsts", ()):
                found[-1][f"{what}_{first['of']}"] = self._first(what, call, first)
        return found

    def _first(self, what: str, call: Call, first: dict[str, Any]) -> Asked:
        """Return the first result of a sequence for a case's contents."""
        file = call.file.with_name(f"{call.file.stem}-{first['of']}.bin")
        event = {**call.event, **{key: first.get(key, []) for key in ("shape", "dtype", "outputs", "digest")}}
        return Asked(f"{what}_{first['of']}", self._cases[first["of"]], Call(event, file, call.violations))

    def _number(self, case: Case) -> int:
        known = [one.inputs for one in self._cases]
        if case.inputs not in known:
            self._cases.append(case)
        return [*known, case.inputs].index(case.inputs)
