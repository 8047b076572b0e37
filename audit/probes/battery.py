"""Many calls in one process for several probes, each right or wrong for its own inputs.

A result must depend on the values of its inputs alone: not on addresses, earlier calls or their number.
"""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit.build.settings import QUICK
from audit.model.errors import AuditError
from audit.probes.answer import FIRST_WRONG, NOT_ASKED, TOO_LARGE, UNSTEADY, Observed
from audit.probes.called import Call, Mode, SessionBroken, Step
from audit.probes.cases import Case
from audit.probes.compare import Comparison
from audit.probes.target import Target
from audit.probes.variations import APART, DISCRIMINATING, GRADED, ROUNDING, TIES, Variation, Varied, wanted

AGAIN, REPEAT, AFTER = "first_again", "repeat", "after_repeat"
HELD, HELD_ON, SECOND = "held", "held_on", "second_held"
"""The first result in the middle and at the end of the session, and another early result at the end, whose values no
later call has: a call that overwrites it writes another result."""
FREED, WHOLE = "_in_freed_memory", "whole_numbers"
SAME_BUFFERS = ("moved", "other", "inputs")
"""Groups whose variations are written into the buffers of the first call, each right after the first values."""
BRIEF = ("other", "inputs", DISCRIMINATING)
"""Groups whose variations are asked of a kernel that is wrong at its own inputs too."""
FEWEST_REPEATS, MORE_REPEATS = 24, 17
REPEATS_S, MOST_REPEATS = 0.5, 256
"""The time and the most repeated calls: claimed code may begin to cache results after some calls."""
SLOW_S, FEWEST_SLOW, MORE_SLOW = 8.0, 8, 5
"""The time of the fewest repeated calls beyond which fewer are made, and the first values come again once;
`repeat` makes many more without kernels."""
OF_TYPE = {"bfloat16": "bf16", "float16": "fp16"}
"""The formats that a kernel may compute in because its result is of that type."""
LAYOUTS = ("offset", "padded", "transposed")
Planned = tuple[str, Case, dict[str, Any], str]
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


def at_middle(target: Target) -> dict[str, Asked]:
    """Return the calls of every variation at the middle case in one process, by name; `first` is a plain call.

    The last ones are `repeat`, many calls that alternate between contents, with the first result for each content, and
    then a call for each. `held` and, at the end, `held_on` are the first result again.

    Variations of `SAME_BUFFERS` are written into the buffers of the first call, past torch's version counters. Their
    order is random, and the first values come again before each, so that a cache of one entry holds the result of the
    values from which the variation was made; where calls are slow, before the last alone. Distributions have buffers of
    their own: their question is about values.

    Of a kernel whose plain call is wrong there are `first` and the groups of `BRIEF` alone.
    """
    return target.once("middle", lambda: _asked(target, [_middle])[0])


def at_largest(target: Target) -> dict[str, Asked]:
    """Return calls at the largest case: `first`, `other_values`, `discriminating` and `graded` in the same buffers, and
    `held`, the first result after those. On the emulated device, whose calls are slow, the clocks of host code stand
    still between them: to a claim that looks, calls follow one another at once."""
    return target.once("largest", lambda: _asked(target, [_largest])[0])


def views(target: Target) -> dict[str, Asked]:
    """Return calls at the middle case: `offset`, `padded`, `transposed`, and `nan` and `inf` if inputs are real."""
    return target.once("views", lambda: _asked(target, [_views])[0])


def ask_together(target: Target) -> None:
    """Make the calls of `at_middle` and `views` in one session, if they take at most half of its time limit.

    Those of `at_largest` need a session of their own for its first call: the two cases may be the same.

    Raises:
        AuditError: the session broke or the task has no variations; each then gets a session of its own.
    """
    plain = target.call(target.largest, target.plain)
    if plain.raised is not None:
        return
    varied = wanted(target).middle
    calls = len(varied.variations) + FEWEST_REPEATS + MORE_REPEATS
    if calls * plain.event["seconds"] < target.built.limit_s / 2:
        found = _asked(target, [_middle, _views])
        for question, one in zip(("middle", "views"), found, strict=True):
            target.once(question, partial(dict, one))


def premise(target: Target, first: Asked) -> Observed | None:
    """Return a reason to skip where the very first call is wrong: nothing follows from later ones."""
    if first.compared(target).right:
        return None
    return {"shape": dict(first.case.shape), NOT_ASKED: UNSTEADY if unsteady(target, first) else FIRST_WRONG}


def unsteady(target: Target, first: Asked) -> bool:
    """Return whether a plain first call, which is wrong here, is right in the process that `agreement` reads."""
    if first.compared(target).right:
        return False
    plain = target.call(first.case, target.plain)
    return plain.raised is None and target.compared(plain, first.case).right


def too_large(name: str, target: Target, first: Asked) -> Observed | None:
    """Return a reason to skip where the middle case is too large for that question about values."""
    asked = name in wanted(target).middle.groups
    return None if asked else {"shape": dict(first.case.shape), NOT_ASKED: TOO_LARGE}


def repeats(case: Case, call_s: float) -> int:
    """Return the number of repeated calls, which is unknown before the audit and grows as calls get shorter."""
    drawn = case.seed
    if FEWEST_REPEATS * call_s > SLOW_S:
        return max(FEWEST_SLOW, int(SLOW_S / call_s)) + drawn % MORE_SLOW
    fitting = min(MOST_REPEATS, int(REPEATS_S / call_s)) if call_s else MOST_REPEATS
    return max(FEWEST_REPEATS, fitting - MORE_REPEATS) + drawn % MORE_REPEATS


def _asked(target: Target, plans: Sequence[Callable[[Target, _Planned], None]]) -> list[dict[str, Asked]]:
    """Make the calls of those plans in one session; return them by name for each plan. Raises SessionBroken: a plain
    call of the middle case raises."""
    plain = target.call(target.middle, target.plain)
    if plain.raised is not None:
        raise SessionBroken(f"the call raised {plain.raised}")
    if _middle in plans and _wrong(target, plain):
        found = _made(target, plans, plain, brief=True)
        if not found[plans.index(_middle)]["first"].compared(target).right:
            return found
    return _made(target, plans, plain)


def _wrong(target: Target, plain: Call) -> bool:
    """Return whether a plain call of the middle case has a wrong result of the right shape."""
    try:
        return not target.compared(plain, target.middle).right
    except AuditError:  # each probe says what it lacks
        return False


def _made(
    target: Target, plans: Sequence[Callable[[Target, _Planned], None]], plain: Call, *, brief: bool = False
) -> list[dict[str, Asked]]:
    planned = _Planned(call_s=plain.event["seconds"], brief=brief)
    for plan in plans:
        planned.begin()
        plan(target, planned)
    python = _middle in plans and target.variant.file.endswith(".py")  # an import's changes show in a fresh process
    quick = _largest in plans and target.built.tensor_device == "cpu"
    return planned.asked(target, target.plain._replace(order=QUICK) if quick else target.plain, fresh=python)


def _middle(target: Target, planned: _Planned) -> None:
    varied = wanted(target).middle
    if planned.brief:
        planned.add([("first", varied.case, {}, "")])
        others = [one for group in BRIEF for one in _together(varied, group)]
        planned.add((one.name, one.case, {}, one.group) for one in others)
        return
    draw = random.Random(varied.case.seed)
    good = trusted(target, varied)
    rewritten = list(_rewritten(varied, draw, slow=planned.slow))
    planned.add([("first", varied.case, {"hold": True}, ""), *rewritten, *_elsewhere(varied)])
    planned.add((one.name, one.case, {"into": varied.case}, one.group) for one in _whole(good))
    drawn: list[Planned] = [(one.name, one.case, {}, "distributions") for one in good if one.group != WHOLE]
    found = {name for name, *_ in drawn}
    planned.add(drawn)
    planned.add((one.name, one.case, {}, one.group) for one in varied.of(DISCRIMINATING) if one.name not in found)
    planned.add([(HELD, varied.case, {"run": "held", "of": "first"}, "")])
    calm = [one for one in good if (one.headroom[ROUNDING] or 0.0) <= target.relative(varied.case) / 2]
    alternating = _alternating(varied, calm)
    planned.add_in_turn(REPEAT, alternating, draw)
    planned.add((f"{AFTER}_{index}", one, {"into": varied.case}, "") for index, one in enumerate(alternating))
    planned.add([(HELD_ON, varied.case, {"run": "held", "of": "first"}, "")])
    planned.add((SECOND, case, {"run": "held", "of": name}, "") for name, case, how, _ in rewritten if "hold" in how)


def _rewritten(varied: Varied, draw: random.Random, *, slow: bool) -> Iterator[Planned]:
    same = [one for group in SAME_BUFFERS for one in _together(varied, group)]
    drawn = draw.sample(same, len(same))
    once = next((one for one in drawn if one.group != "other"), None)
    for index, one in enumerate(drawn):
        if index == len(drawn) - 1 or (index and not slow):
            yield f"{AGAIN}_{index}", varied.case, {}, "again"
        yield one.name, one.case, {"into": varied.case, **({"hold": True} if one is once else {})}, one.group


def _together(varied: Varied, group: str) -> list[Variation]:
    """Return the variations of a group that may share a process."""
    return [one for one in varied.of(group) if one.kind not in APART]


def _elsewhere(varied: Varied) -> Iterator[Planned]:
    """Yield the same values at new addresses, and then other values in the memory that those have freed."""
    yield "new_addresses", varied.case, {"fresh": True}, ""
    for one in varied.of("other"):
        yield f"{one.name}{FREED}", one.case, {"fresh": True}, ""


def _whole(good: Sequence[Variation]) -> list[Variation]:
    """Return whole numbers and the same with two exchanged; nothing where the first is not trusted."""
    found = [one for one in good if one.group == WHOLE]
    return found if found and found[0].name == WHOLE else []


def _alternating(varied: Varied, good: Sequence[Variation]) -> list[Case]:
    """Return the cases of the repeated call: the first values, others and, if possible, a third kind."""
    third = [one.case for one in good if one.group == "distributions"][:1]
    return [varied.case, *(one.case for one in varied.of("other")), *third]


def _largest(target: Target, planned: _Planned) -> None:
    varied = wanted(target).largest
    planned.add([("first", varied.case, {"snapshot": True, "hold": True}, "")])
    drawn = (one for one in trusted(target, varied) if one.group in (DISCRIMINATING, GRADED))
    later = [*varied.of("other"), *drawn]
    planned.add((one.name, one.case, {"into": varied.case, "snapshot": True}, one.group) for one in later)
    planned.add([(HELD, varied.case, {"run": "held", "of": "first"}, "")])


def _views(target: Target, planned: _Planned) -> None:
    if planned.brief:
        return
    varied = wanted(target).middle
    planned.add((layout, varied.case, {"layout": layout}, "") for layout in LAYOUTS)
    planned.add((one.name, one.case, {}, one.group) for one in varied.of("nonfinite"))


def trusted(target: Target, varied: Varied) -> list[Variation]:
    """Return the distributions at which a sound result of the declared precision, or of the precision of the result's
    own type, stays well within the tolerance.

    Elsewhere (overflow, cancellation) a right kernel may be off too, as where the result depends on ties that the
    distribution makes, or has infinities and NaN that the case's own lacks.
    """
    limit = target.relative(varied.case) / 2
    kinds = {"fp32", target.variant.precision, TIES, OF_TYPE.get(varied.case.dtype, "fp32")}
    known = [one for group in (DISCRIMINATING, GRADED, "distributions", WHOLE) for one in varied.of(group)]
    holes = np.isfinite(varied.case.expected)
    return [
        one
        for one in known
        if one.headroom[ROUNDING] is not None
        and all((need := one.headroom[kind]) is not None and need <= limit for kind in kinds)
        and np.array_equal(np.isfinite(one.case.expected), holes)
    ]


class _Planned:
    """The planned calls of a session and their cases; `brief` where the first one is known to be wrong: nothing follows
    from later ones but whether the result follows each input."""

    def __init__(self, *, call_s: float, brief: bool) -> None:
        self._call_s, self.brief = call_s, brief
        self.slow = FEWEST_REPEATS * call_s > SLOW_S
        self._calls: list[tuple[str, Case, str]] = []
        self._cases: list[Case] = []
        self._steps: list[Step] = []
        self._begun: list[int] = []

    def begin(self) -> None:
        """Begin another plan, with its own names of calls."""
        self._begun.append(len(self._calls))

    def add(self, calls: Iterable[Planned]) -> None:
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
        """Make every call; return the calls by name, plan by plan."""
        calls = target.steps(self._steps, cases=self._cases, mode=mode, fresh=fresh)
        found: list[dict[str, Asked]] = [{} for _ in self._begun]
        for index, ((what, case, group), call, step) in enumerate(zip(self._calls, calls, self._steps, strict=True)):
            plan = found[bisect.bisect(self._begun, index) - 1]
            kept = case if "order" not in step or call.raised else self._cases[step["order"][call.event["kept"]]]
            plan[what] = Asked(what, kept, call, group, step.get("order", ()))
            for first in call.event.get("firsts", ()):
                plan[f"{what}_{first['of']}"] = self._first(what, call, first)
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
