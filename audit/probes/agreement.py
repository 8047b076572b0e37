"""Is every element what a float64 oracle says, on fresh inputs, at every shape, in every thread order?

Fresh memory holds a NaN or a huge number, so an unwritten element cannot look right. A case wrong in every order
is proved wrong. A case wrong in some calls only, or wrong beside undefined behaviour and right in a further order or
with another value in unwritten memory, is graded undefined: hardware may hide it. It depends on the thread order where
first calls of fresh processes, over the same memory, are right in some orders and wrong in others, twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from audit.build.settings import STALE, STALE_READ
from audit.model import Finding
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.compare import Comparison, sentence
from audit.probes.concluding.undefined import undefined_beside, wrong_in_every_order
from audit.probes.observing.called import Call, Mode, ProtocolViolated, SessionBroken, value_calls
from audit.probes.observing.cases import Case, Need
from audit.probes.observing.target import Target

NAME = "agreement"


class Result(NamedTuple):
    """One case in one order: its comparison, and its call."""

    order: str
    case: Case
    comparison: Comparison
    call: Call


def modes(target: Target) -> list[Mode]:
    """Return one mode an order. The first two have different patterns in fresh memory, as `coverage` needs."""
    patterns = (*dict.fromkeys((target.plain.memory, *target.built.poisons)),)
    return [Mode(patterns[index % 2], order) for index, order in enumerate(target.orders)]


def needs(target: Target) -> Iterator[Need]:
    """Yield every case in every order."""
    yield from ((mode, case) for mode in modes(target) for case in target.cases)


def observe(target: Target) -> Observed:
    """Compare every case in every order; add `_worst` where one is wrong."""
    results: list[Result] = []
    for mode in modes(target):
        calls = target.calls(target.cases, mode)
        value_calls(calls, [case.expected for case in target.cases])
        right_before = {id(one.case) for one in results if one.comparison.right}
        for call, case in zip(calls, target.cases, strict=True):
            again, comparison = call, target.compared(call, case)
            if not comparison.right and id(case) in right_before:  # the cause may be the order, or an earlier call
                (again, *_) = target.session(["claim"], case, mode, fresh=True)
                comparison = target.compared(again, case)
            results.append(Result(mode.order, case, comparison, again))
    found = [{"shape": dict(one.case.shape), "order": one.order, **one.comparison.evidence()} for one in results]
    floors = {one.case.dtype: one.comparison.floor for one in results if one.comparison.floor is not None}
    seen: Observed = {"tolerance": target.tolerance.relative, "shapes": found, "orders": len(target.orders)}
    seen |= {"floors": floors} if floors else {}
    wrong = [one for one in results if not one.comparison.right]
    return seen | ({"worst": _worst(target, results, wrong)} if wrong else {})


def conclude(seen: Observed) -> Answer:
    """Pass where every case is right; else fail at the worst one."""
    if "worst" not in seen:
        shapes = len(seen["shapes"]) // seen["orders"]
        text = f"right at {_counted(shapes, 'shape')} in {_counted(seen['orders'], 'thread order')}"
        floors = seen.get("floors", {}).items()
        return passed(text + "".join(f"; {of} is held to {at:.2g}, no finer than it can hold" for of, at in floors))
    worst = seen["worst"]
    text, undefined = f"{label(worst['shape'])}: {sentence(worst)}", worst["undefined"]
    if worst["in_every_order"]:
        text += f"; beside undefined behaviour ({undefined}), but so in every order and fill" if undefined else ""
        return failed(text, shape=worst["shape"])
    if undefined:
        text += f"; beside undefined behaviour ({undefined}), so a GPU may differ"
    elif "stale" in worst:
        text += (
            "; only where a volatile read gives the value before another block's last write, which no fence rules out"
        )
    elif worst.get("order_decides"):
        text += "; right in another order of the threads, on which the result depends"
    elif "order_decides" not in worst and worst.get("by_order", True):  # of an older record
        text += "; right in another thread order, so it depends on a race"
    else:
        text += "; right in another call, so it depends on earlier calls, or on memory it never wrote"
    return failed(text, "undefined", shape=worst["shape"], line=worst.get("stale"))


def right_at(cases: Sequence[Case], found: Iterable[Finding]) -> list[bool]:
    """Return whether each case was right in every order, by this probe's finding among those. Raises SessionBroken:
    this probe gave no answer."""
    result = next((one.evidence.get("shapes") for one in found if one.probe == NAME), None)
    if not isinstance(result, list):
        raise SessionBroken(f"{NAME} gave no answer")
    answers = [each for each in result if isinstance(each, dict)]
    return [all(bool(each["right"]) for each in answers if each["shape"] == dict(case.shape)) for case in cases]


def _worst(target: Target, results: list[Result], wrong: list[Result]) -> dict[str, Any]:
    """Return the evidence of the worst case: one that is wrong in every order, else that with most wrong elements.

    `undefined` is undefined behaviour at that case, `in_every_order` whether it is wrong in spite of any,
    `order_decides` whether the thread order alone makes it wrong, `stale` the line of a read where it is wrong only
    with old values of volatile reads, `map` the share of wrong elements in at most 64 x 64 cells; of several outputs,
    that of the worst.
    """
    wrong = sorted(wrong, key=lambda one: (not one.case.counts, -one.comparison.elements_wrong))
    everywhere = next((one for one in wrong if _in_every_order(results, one.case) and _proved(target, one.case)), None)
    worst = everywhere or wrong[0]
    undefined = undefined_beside(target, worst.case)
    open_ = everywhere is None and undefined is None
    return {
        "shape": dict(worst.case.shape),
        **worst.comparison.evidence(),
        "undefined": undefined,
        "in_every_order": everywhere is not None,
        **({"order_decides": _by_order(target, results, worst.case)} if open_ else {}),
        **({"stale": _stale_line(target, worst)} if _only_stale(results, worst.case) else {}),
        "map": target.wrong_map(worst.call, worst.case, output=worst.comparison.output),
    }


def _by_order(target: Target, results: list[Result], case: Case) -> bool:
    """Return whether first calls of fresh processes, over the same memory, are right in some orders alone: each order
    is asked twice, since a call may differ from itself."""
    orders = dict.fromkeys(one.order for one in results if one.case.inputs == case.inputs)
    try:
        right = {frozenset(_first_ones(target, case, Mode(target.plain.memory, order))) for order in orders}
    except ProtocolViolated:
        raise
    except SessionBroken:
        return False
    return right == {frozenset((True,)), frozenset((False,))}


def _first_ones(target: Target, case: Case, mode: Mode) -> Iterator[bool]:
    for _ in range(2):
        (call,) = target.session(["claim"], case, mode, fresh=True)
        yield target.compared(call, case).right


def _in_every_order(results: list[Result], case: Case) -> bool:
    return not any(one.comparison.right for one in results if one.case.inputs == case.inputs)


def _only_stale(results: list[Result], case: Case) -> bool:
    """Return whether that case is wrong only where volatile reads give old values."""
    wrong = [one for one in results if one.case.inputs == case.inputs and not one.comparison.right]
    return all(one.order.startswith(STALE) for one in wrong)


def _stale_line(target: Target, one: Result) -> int | None:
    """Return the line of the last read of its own kind that gave an old value; None without debug information."""
    reports = target.built.located([each for each in one.call.reports if each["kind"] == STALE_READ])
    return reports[-1]["line"] if reports else None


def _proved(target: Target, case: Case) -> bool:
    """Return whether the case has no undefined behaviour, or is wrong in spite of it."""
    return undefined_beside(target, case) is None or wrong_in_every_order(target, case)


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"
