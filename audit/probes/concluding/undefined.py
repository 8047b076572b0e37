"""Undefined behaviour of a call by the CUDA programming model, and whether the result depends on it.

A finding means "undefined behaviour" exactly where `finding.grade == "undefined"`: the behaviour itself was observed in
a kernel of the source, whatever the values of the result. Evidence of `memory_access` has `kind`, `line` (None without
debug information), `shape`, `proof` (the observer: "access checker", a tool of compute-sanitizer, "sentryward") and
`reports`, all observations. A probe of values gives that grade to a wrong value that may come from such behaviour; its
text names the behaviour.

A wrong value beside undefined behaviour is proved wrong where it is wrong in every order of threads and blocks, lanes
in step included, and under every fill. If it is right in one of them, its grade is undefined; beside warp-mask, and
where every race is one between lanes of a warp, too: these may interleave in more ways than the tested orders, and a
GPU may well run them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.build.settings import STALE
from audit.probes.concluding.behaviour import (
    ACROSS_BLOCKS,
    HIDDEN,
    NO_ANSWER,
    NO_BEHAVIOUR,
    OPEN,
    RACES,
    RANK,
    UNUSED,
    VALUES,
    WITHIN_A_BLOCK,
    WITHIN_A_WARP,
    Behaviour,
    grade,
    lanes_interleave,
    of_report,
)  # fmt: skip
from audit.probes.concluding.own_kernels import own_kernels
from audit.probes.observing.called import Call, Mode, SessionBroken, value_calls
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.review.cuda_source import parse

TOLD_APART = 2
"""Fills of an order that are always asked."""


@dataclass(frozen=True)
class Checked:
    """The behaviour of a checked call, worst first; `unanswered` tools gave no answer, `fills` is the number tried."""

    seen: tuple[Behaviour, ...]
    launches: tuple[dict[str, Any], ...]
    unanswered: tuple[str, ...]
    fills: int
    most_writes: int | None

    @property
    def undefined(self) -> Behaviour | None:
        """The first behaviour that is undefined."""
        return next((one for one in self.seen if one.grade == "undefined"), None)


def checked(target: Target, case: Case) -> Checked:
    """Make one checked call at that case and grade its behaviour, once a build and case. On a GPU it takes a minute and
    only one probe needs it, so others do not wait."""
    if target.built.tensor_device == "cuda":
        return _checked(target, case)
    return target.once(f"checked:{case.inputs}", lambda: _checked(target, case))


def of_blocks(target: Target, reports: Iterable[dict[str, Any]], *, whole: bool) -> Behaviour | None:
    """Return the worst behaviour of a checked call of some blocks; unless it was `whole`, what is independent of other
    blocks."""
    kinds = (*WITHIN_A_BLOCK, ACROSS_BLOCKS) if whole else WITHIN_A_BLOCK
    located = target.built.located([one for one in reports if one["kind"] in kinds])
    own = _own_functions(target)
    seen = [of_report(one, grade(one, own=own, depends=False)) for one in located]
    return min(seen, key=lambda one: RANK[one.grade], default=None)


def is_unused(target: Target, race: Behaviour) -> bool:
    """Return whether that is a race at a line whose races, at a shape that is run whole, read nothing that is used."""
    found = checked(target, target.middle).seen if race.kind in RACES and target.cases else ()
    return any((one.kind, one.line, one.grade) == (race.kind, race.line, "hint") for one in found)


def checking(target: Target) -> Mode:
    """Return the mode in which every access is checked."""
    return Mode(target.built.nan_memory, check=True)


def undefined_beside(target: Target, case: Case) -> str | None:
    """Return the first undefined behaviour at that case that can cause a wrong value; None if there is none, and on a
    GPU, where a wrong value of real hardware is wrong."""
    if target.built.tensor_device == "cuda" or not target.built.checks_accesses:
        return None
    found = checked(target, case).undefined
    return None if found is None else f"{found.kind}: {found.message}"


def wrong_in_every_order(target: Target, case: Case) -> bool:
    """Return whether the result at that case is wrong in every order of threads and blocks and under every fill. False
    where lanes of a warp may run in many more orders than are tested."""
    if lanes_interleave((one.kind, one.message) for one in checked(target, case).seen):
        return False
    return target.once(f"wrong_in_every_order:{case.inputs}", lambda: not any(_right_ones(target, case)))


def _right_ones(target: Target, case: Case) -> Iterator[bool]:
    """Yield whether the result is right, for each order and fill, see `further_fills`; True for a broken session, which
    proves nothing."""
    orders, fills = (*target.built.orders, *target.built.more_orders), target.built.fills or (None,)
    for order in orders:
        modes = [Mode(target.built.nan_memory, order, fill) for fill in fills]
        calls: list[Call] = []
        for some in (modes[:TOLD_APART], modes[TOLD_APART:]):
            target.ask_ahead((mode, case) for mode in some)
            for mode in some:
                try:
                    calls.append(target.call(case, mode))
                    value_calls(calls[-1:], [case.expected])
                    yield target.compared(calls[-1], case).right
                except SessionBroken:
                    yield True
            if not further_fills(calls):
                break


def further_fills(calls: Sequence[Call]) -> bool:
    """Return whether more fills are asked in an order: the result differs between the first two, a NaN and a large
    number, so that fresh shared memory reaches it."""
    return len(calls) < TOLD_APART or len({call.event.get("digest") for call in calls}) > 1


def _checked(target: Target, case: Case) -> Checked:
    call = target.call(case, checking(target))
    reports = [one for one in target.built.located(call.reports) if one["kind"] not in NO_BEHAVIOUR]
    unanswered = tuple(str(one["tool"]) for one in reports if one["kind"] == NO_ANSWER)
    loads = [one for one in reports if one["kind"] in OPEN]
    asked = [one for one in reports if one["kind"] not in (NO_ANSWER, *OPEN)]
    asked += _deciding(target, case, loads)
    if any(one["kind"] in RACES for one in asked) and _reads_are_unused(target, case):
        asked = [{**one, "message": one["message"] + UNUSED} if one["kind"] in RACES else one for one in asked]
    values = [one for one in asked if one["kind"] in VALUES]
    depends = bool(values) and _depends(target, case)
    own = _own_functions(target)
    seen = [of_report(one, grade(one, own=own, depends=depends)) for one in asked]
    return Checked(
        seen=tuple(sorted(seen, key=lambda one: (RANK[one.grade], WITHIN_A_WARP in one.message))),
        launches=tuple(call.launches),
        unanswered=unanswered,
        fills=len(target.built.fills) if values else 0,
        most_writes=call.event.get("most_writes"),
    )


def _reads_are_unused(target: Target, case: Case) -> bool:
    """Return whether nothing that is read in a race reaches the result: in each order of threads and blocks it is the
    same, bit for bit, where reads that race with a write before them get a NaN, or a large number. The read of a pair
    comes second in one of the orders; that of a volatile or of other memory's copy keeps its value, and is a race."""
    if target.built.tensor_device == "cuda":
        return False
    plain, hidden = Mode(target.built.nan_memory), 0
    for order in (one for one in target.built.orders if not one.startswith(STALE)):
        modes = [plain._replace(order=order)]
        modes += [modes[0]._replace(fill=fill, check=True) for fill in target.built.fills[:TOLD_APART]]
        calls = _calls(target, case, modes)
        if calls is None or not _same(calls) or len(calls) <= TOLD_APART:
            return False
        kinds = [one["kind"] for call in calls for one in call.reports]
        if {*kinds} - {HIDDEN, *VALUES}:
            return False
        hidden += kinds.count(HIDDEN)
    return hidden > 0


def _depends(target: Target, case: Case) -> bool:
    """Return whether the result changes with the contents of unwritten memory and inactive lanes. On the emulated
    device, which is deterministic, any bit counts; on a GPU a result out of tolerance."""
    built = target.built
    modes = [Mode(built.nan_memory, fill=fill) for fill in built.fills]
    modes += [Mode(memory) for memory in dict.fromkeys((built.nan_memory, *built.poisons))]
    if (calls := _calls(target, case, modes)) is None:
        return True
    if built.tensor_device == "cuda":
        return not all(target.compared(call, case).right for call in calls)
    return not _same(calls)


def _deciding(target: Target, case: Case, loads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the reports of those loads on whose open elements the result depends: of each alone where one does."""
    if not loads or not _follows_open(target, case):
        return []
    lines = {one["line"] for one in loads if one["line"]}
    alone = {line for line in lines if len(lines) > 1 and _follows_open(target, case, line=line)}
    return [one for one in loads if one["line"] in alone] or loads


def _follows_open(target: Target, case: Case, *, line: int = 0) -> bool:
    """Return whether a number of the result changes to another number with what open elements hold, of one line alone
    if it is given. NaN and infinities do not count: a product of a zero and a GPU's finite number is zero."""
    modes = [Mode(target.built.nan_memory)]
    modes += [modes[0]._replace(fill=f"{fill} {line}") for fill in target.built.lane_fills]
    if (calls := _calls(target, case, modes)) is None:
        return False
    plain, *others = calls
    return any(_other_numbers(plain, other) for other in others)


def _calls(target: Target, case: Case, modes: Sequence[Mode]) -> list[Call] | None:
    """Return a call in each mode; None where one gives no values."""
    try:
        target.ask_ahead((mode, case) for mode in modes)
        calls = [target.call(case, mode) for mode in modes]
        value_calls(calls, [case.expected] * len(calls))
    except SessionBroken:
        return None
    return calls


def _other_numbers(one: Call, other: Call) -> bool:
    if one.same_bits(other):
        return False
    a, b = one.values(), other.values()
    return bool(np.any((a != b) & np.isfinite(a) & np.isfinite(b)))


def _same(calls: Iterable[Call]) -> bool:
    first, *others = calls
    return all(first.same_bits(other) for other in others)


def _own_functions(target: Target) -> frozenset[str]:
    """Return the kernels of the source, and those device functions of a `.cu` that a tool may name."""
    source = target.reference.parent / target.variant.file
    own = frozenset(own_kernels(source))
    if source.suffix == ".py":
        return own
    return own | {one.name for one in parse(source.read_text(encoding="utf-8")).functions if one.kind != "host"}
