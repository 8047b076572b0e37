"""Many calls in one process for several probes, each right or wrong for its own inputs.

A result must depend on the values of its inputs alone: not on addresses, earlier calls or their number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from audit.build.settings import QUICK
from audit.model.errors import AuditError
from audit.probes.concluding.answer import FIRST_WRONG, NOT_ASKED, TOO_LARGE, UNSTEADY, Observed
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import FEWEST_REPEATS, MORE_REPEATS, Asked, Plan, PlannedCall
from audit.probes.observing.target import Target
from audit.probes.observing.variations import APART, DISCRIMINATING, GRADED, ROUNDING, TIES, Variation, Varied, wanted

AGAIN, REPEAT, AFTER = "first_again", "repeat", "after_repeat"
HELD, HELD_ON, SECOND = "held", "held_on", "second_held"
"""The first result in the middle and at the end of the session, and another early result at the end, whose values no
later call has: a call that overwrites it writes another result."""
FREED, WHOLE = "_in_freed_memory", "whole_numbers"
SAME_BUFFERS = ("moved", "other", "inputs")
"""Groups whose variations are written into the buffers of the first call, each right after the first values."""
BRIEF = ("other", "inputs", DISCRIMINATING)
"""Groups whose variations are asked of a kernel that is wrong at its own inputs too."""
OF_TYPE = {"bfloat16": "bf16", "float16": "fp16"}
"""The formats that a kernel may compute in because its result is of that type."""
LAYOUTS = ("offset", "padded", "transposed")
MOVED_BYTES = 0.8e9
"""Bytes of results that are moved and compared a second: 0.8 GB took 1.0 s beside an H200."""


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


def _asked(target: Target, plans: Sequence[Callable[[Target, Plan], None]]) -> list[dict[str, Asked]]:
    """Make the calls of those plans in one session; return them by name for each plan. Raises SessionBroken: a plain
    call of the middle case raises."""
    plain = target.call(target.middle, target.plain)
    if plain.raised is not None:
        raise SessionBroken(f"the call raised {plain.raised}")
    if _middle in plans and _wrong(target, plain):
        (found,) = _made(target, [_brief], plain)
        if not found["first"].compared(target).right:
            return [found if plan is _middle else {} for plan in plans]
    return _made(target, plans, plain)


def _wrong(target: Target, plain: Call) -> bool:
    """Return whether a plain call of the middle case has a wrong result of the right shape."""
    try:
        return not target.compared(plain, target.middle).right
    except AuditError:  # each probe says what it lacks
        return False


def _made(target: Target, plans: Sequence[Callable[[Target, Plan], None]], plain: Call) -> list[dict[str, Asked]]:
    planned = Plan(call_s=plain.event["seconds"] + sum(target.middle.output_bytes) / MOVED_BYTES)
    for plan in plans:
        planned.begin()
        plan(target, planned)
    values = not {_middle, _brief}.isdisjoint(plans)
    python = values and target.variant.file.endswith(".py")  # an import's changes show in a fresh process
    quick = _largest in plans and target.built.tensor_device == "cpu"
    return planned.asked(target, target.plain._replace(order=QUICK) if quick else target.plain, fresh=python)


def _brief(target: Target, planned: Plan) -> None:
    """Plan what is asked of a kernel whose first call is known to be wrong: whether its result follows each input."""
    varied = wanted(target).middle
    planned.add([("first", varied.case, {}, "")])
    others = [one for group in BRIEF for one in _together(varied, group)]
    planned.add((one.name, one.case, {}, one.group) for one in others)


def _middle(target: Target, planned: Plan) -> None:
    varied = wanted(target).middle
    draw = random.Random(varied.case.seed)
    good = trusted(target, varied)
    rewritten = list(_rewritten(varied, draw, slow=planned.slow))
    planned.add([("first", varied.case, {"hold": True}, ""), *rewritten, *_elsewhere(varied)])
    planned.add((one.name, one.case, {"into": varied.case}, one.group) for one in _whole(good))
    drawn: list[PlannedCall] = [(one.name, one.case, {}, "distributions") for one in good if one.group != WHOLE]
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


def _rewritten(varied: Varied, draw: random.Random, *, slow: bool) -> Iterator[PlannedCall]:
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


def _elsewhere(varied: Varied) -> Iterator[PlannedCall]:
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


def _largest(target: Target, planned: Plan) -> None:
    varied = wanted(target).largest
    planned.add([("first", varied.case, {"snapshot": True, "hold": True}, "")])
    drawn = (one for one in trusted(target, varied) if one.group in (DISCRIMINATING, GRADED))
    later = [*varied.of("other"), *drawn]
    planned.add((one.name, one.case, {"into": varied.case, "snapshot": True}, one.group) for one in later)
    planned.add([(HELD, varied.case, {"run": "held", "of": "first"}, "")])


def _views(target: Target, planned: Plan) -> None:
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
