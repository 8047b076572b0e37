"""What the CUDA programming model leaves undefined in a call, and whether the result depends on it.

A finding means "undefined behaviour" exactly where `finding.grade == "undefined"`: the behaviour itself was seen, in a
kernel of the source, and no value of the result is needed to say so. Evidence of `memory_access` holds `kind`, `line`
(None without debug information), `shape`, `proof` (what saw it: "access checker", a tool of compute-sanitizer,
"sentryward") and `reports`, all that was seen. A probe of values gives that grade where a wrong value stands beside
such behaviour and may come from it; its text names the behaviour.

    race-shared, race-global  two threads touch one word, one writes, nothing orders the two. No race: atomics, volatile
                              flags in device memory, and writes that all leave the same value.
    warp-mask                 a lane is not in the mask it passes, a live lane of the mask never comes, or lanes
                              exchange data through volatile memory alone. A mask may name lanes that have ended.
    barrier-divergence        threads of a block wait at different barriers. None waits for those that have ended.
    uninitialised-read,       a value that nothing has written, or of a lane that takes no part. Undefined where the
    exited-lane-read          result depends on it, which is asked with several fills; a hint where it does not:
                              known-good code reads tiles past their used part and drops what it read.

A wrong value beside undefined behaviour is proved wrong where it is wrong in every order of threads and blocks, lanes
in step among them, and under every fill. Right in one of them, its grade is undefined; beside warp-mask too, since
lanes that nothing holds together may interleave in more ways than the orders asked here.

Only a hint: what a tool saw in functions of others, by name; reads of shared memory that initcheck reports, since a
compiler may read ahead and no fill can be asked; threads that synccheck finds absent, since they may have ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from audit.model import Grade
from audit.probes.called import Call, Mode, SessionBroken, value_calls
from audit.probes.cases import Case
from audit.probes.own_kernels import own_kernels
from audit.probes.target import Target
from audit.review.cuda_source import parse

PROVED = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address", "misaligned-access")
"""What no GPU can make right."""
FAULTS = ("illegal memory access", "misaligned address")
"""CUDA's own words for an access that only a kernel makes: outside every allocation, or a vector off its boundary."""
NO_BEHAVIOUR = ("launch-refused", "static-shared-too-large")
"""Reports that speak of no access and of no synchronisation."""
VALUES = ("uninitialised-read", "exited-lane-read")
"""Undefined where the result depends on the value that was read."""
WITHIN_A_BLOCK = (*PROVED, "race-shared", "warp-mask", "barrier-divergence")
"""What a few blocks of a launch show as all of them do."""
OF_OTHERS = ("uninitialised-read-of-input",)
NO_ANSWER = "no-answer"
CHECKER = "access checker"
_SHARED_READ = re.compile(r"\bshared\b")
_RANK: dict[Grade, int] = {"proved": 0, "undefined": 1, "hint": 2}


@dataclass(frozen=True)
class Seen:
    """One kind of behaviour at one place of one kernel; `proof` is what saw it."""

    kind: str
    message: str
    kernel: str
    line: int | None
    count: int
    proof: str
    grade: Grade

    def evidence(self) -> dict[str, JsonValue]:
        """For the record."""
        values: dict[str, JsonValue] = {"kind": self.kind, "message": self.message, "kernel": self.kernel}
        return {**values, "line": self.line, "count": self.count, "proof": self.proof, "grade": self.grade}


def sentence(seen: Mapping[str, Any]) -> str:
    """What was seen, where and how often; from `Seen.evidence`."""
    place = f" in line {seen['line']}" if seen["line"] else ""
    times = f" ({seen['count']:,} times)" if seen["count"] > 1 else ""
    return f"{seen['kind']}{place} of {seen['kernel']}{times}: {seen['message']}"


@dataclass(frozen=True)
class Checked:
    """What a checked call showed, worst first; `unanswered` tools gave no answer, `fills` tells how many were tried."""

    seen: tuple[Seen, ...]
    launches: tuple[dict[str, Any], ...]
    unanswered: tuple[str, ...]
    fills: int
    most_writes: int | None

    @property
    def undefined(self) -> Seen | None:
        """The first that makes the call's behaviour undefined."""
        return next((one for one in self.seen if one.grade == "undefined"), None)


def checked(target: Target, case: Case) -> Checked:
    """One checked call at that case, everything it showed graded; asked once a build and case.

    On a GPU it takes a minute and one probe asks, so no other waits for it.
    """
    if target.built.tensor_device == "cuda":
        return _checked(target, case)
    return target.once(f"checked:{case.inputs}", lambda: _checked(target, case))


def within_a_block(target: Target, reports: Iterable[dict[str, Any]]) -> Seen | None:
    """The worst that a checked call of a few blocks reported, of what no other block has to do with."""
    located = target.built.located([one for one in reports if one["kind"] in WITHIN_A_BLOCK])
    own = _own_functions(target)
    seen = [_seen(one, _grade(one, own=own, depends=False)) for one in located]
    return min(seen, key=lambda one: _RANK[one.grade], default=None)


def checking(target: Target) -> Mode:
    """The mode in which every access is checked."""
    return Mode(target.built.nan_memory, check=True)


def undefined_beside(target: Target, case: Case) -> str | None:
    """The first undefined behaviour at that case that a wrong value can come from; None if there is none.

    What real hardware got wrong is wrong, so a GPU is not asked.
    """
    if target.built.tensor_device == "cuda" or not target.built.checks_accesses:
        return None
    found = checked(target, case).undefined
    return None if found is None else f"{found.kind}: {found.message}"


def wrong_in_every_order(target: Target, case: Case) -> bool:
    """Whether the result at that case is wrong in every order of threads and blocks and under every fill.

    False beside warp-mask: the orders asked are few of those that lanes may run in.
    """
    if any(one.kind == "warp-mask" for one in checked(target, case).seen):
        return False
    return target.once(f"wrong_in_every_order:{case.inputs}", lambda: not any(_right_ones(target, case)))


def _right_ones(target: Target, case: Case) -> Iterator[bool]:
    """Whether it is right, order by order and fill by fill; a session that breaks proves nothing: as if right."""
    orders, fills = (*target.built.orders, *target.built.more_orders), target.built.fills or (None,)
    for order in orders:
        modes = [Mode(target.built.nan_memory, order, fill) for fill in fills]
        target.ask_ahead((mode, case) for mode in modes)
        for mode in modes:
            try:
                call = target.call(case, mode)
                value_calls([call], [case.expected])
                yield target.compared(call, case).right
            except SessionBroken:
                yield True


def _checked(target: Target, case: Case) -> Checked:
    call = target.call(case, checking(target))
    reports = [one for one in target.built.located(call.reports) if one["kind"] not in NO_BEHAVIOUR]
    unanswered = tuple(str(one["tool"]) for one in reports if one["kind"] == NO_ANSWER)
    asked = [one for one in reports if one["kind"] != NO_ANSWER]
    values = [one for one in asked if one["kind"] in VALUES]
    depends = bool(values) and _depends(target, case)
    own = _own_functions(target)
    seen = [_seen(one, _grade(one, own=own, depends=depends)) for one in asked]
    return Checked(
        seen=tuple(sorted(seen, key=lambda one: _RANK[one.grade])),
        launches=tuple(call.launches),
        unanswered=unanswered,
        fills=len(target.built.fills) if values else 0,
        most_writes=call.event.get("most_writes"),
    )


def _grade(report: dict[str, Any], *, own: frozenset[str], depends: bool) -> Grade:
    kind, by_tool = report["kind"], report.get("tool") is not None
    if kind in OF_OTHERS or (by_tool and not _is_own(report["kernel"], own)):
        return "hint"
    if kind in PROVED:
        return "proved"
    if by_tool and kind == "uninitialised-read" and _SHARED_READ.search(report["message"]):
        return "hint"
    if by_tool and kind == "barrier-divergence":
        return "hint"
    if kind in VALUES:
        return "undefined" if depends else "hint"
    return "undefined"


def _seen(report: dict[str, Any], grade: Grade) -> Seen:
    keys = ("kind", "message", "kernel", "line", "count")
    return Seen(**{key: report[key] for key in keys}, proof=report.get("tool") or CHECKER, grade=grade)


def _depends(target: Target, case: Case) -> bool:
    """Whether the result changes with what unwritten memory and absent lanes hold.

    On the emulated device, which repeats itself bit for bit, any bit counts; on a GPU a result out of tolerance.
    """
    built = target.built
    modes = [Mode(built.nan_memory, fill=fill) for fill in built.fills]
    modes += [Mode(memory) for memory in dict.fromkeys((built.nan_memory, *built.poisons))]
    try:
        target.ask_ahead((mode, case) for mode in modes)
        calls = [target.call(case, mode) for mode in modes]
        value_calls(calls, [case.expected] * len(calls))
    except SessionBroken:
        return True
    if built.tensor_device == "cuda":
        return not all(target.compared(call, case).right for call in calls)
    return not _same(calls)


def _same(calls: Iterable[Call]) -> bool:
    first, *others = calls
    return all(first.same_bits(other) for other in others)


def _own_functions(target: Target) -> frozenset[str]:
    """The kernels of the source, and in a `.cu` its device functions too: with line information a tool names those."""
    source = target.reference.parent / target.variant.file
    own = frozenset(own_kernels(source))
    if source.suffix == ".py":
        return own
    return own | {one.name for one in parse(source.read_text(encoding="utf-8")).functions if one.kind != "host"}


def _is_own(function: str, own: frozenset[str]) -> bool:
    """Whether a function as a tool names it, `void ns::k<(bool)0>(T1 *)` or `[clone k(int *)] f()`, is one of those."""
    return any(re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<(\]]|$)", function) for name in own)


def faulted(raised: str) -> bool:
    """Whether an exception tells of a kernel's fault."""
    return any(fault in raised for fault in FAULTS)
