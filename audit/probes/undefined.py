"""Undefined behaviour of a call by the CUDA programming model, and whether the result depends on it.

A finding means "undefined behaviour" exactly where `finding.grade == "undefined"`: the behaviour itself was observed in
a kernel of the source, whatever the values of the result. Evidence of `memory_access` has `kind`, `line` (None without
debug information), `shape`, `proof` (the observer: "access checker", a tool of compute-sanitizer, "sentryward") and
`reports`, all observations. A probe of values gives that grade to a wrong value that may come from such behaviour; its
text names the behaviour.

    race-shared, race-global  two threads access one word, one writes, and nothing orders the two. No race: atomics,
                              volatile flags in device memory, and writes that all leave the same value.
    warp-mask                 a lane is not in the mask it passes, a live lane of the mask never arrives, or lanes
                              exchange data through volatile memory alone. A mask may name lanes that have ended.
    out-of-bounds-read,       past a shared array by no more than the block's others hold: a compiler places them as
    out-of-bounds-write       it likes. Any other one is proved.
    barrier-divergence        threads of a block wait at different barriers. No barrier waits for ended threads.
    uninitialised-read,       a value that was never written, or of an inactive lane. Undefined where the result
    exited-lane-read          depends on it, which is tested with several fills; a hint where it does not: known-good
                              code reads tiles past their used part and drops the values.
    constant-write            device code writes a `__constant__` variable. An H100 stops the kernel.

A wrong value beside undefined behaviour is proved wrong where it is wrong in every order of threads and blocks, lanes
in step included, and under every fill. If it is right in one of them, its grade is undefined; beside warp-mask, and
where every race is one between lanes of a warp, too: these may interleave in more ways than the tested orders, and a
GPU may well run them together.

Only a hint: open elements of a load in Triton (no `other`, no padding_option) on which the result depends, since Triton
makes zeros of them for NVIDIA GPUs and known-good code relies on it; copies to or from variables that a GPU refuses,
where the values decide; reports of a tool in functions of others, by name; reads of shared memory that initcheck
reports, since a compiler may read ahead and no fill can be tested; threads that synccheck finds absent, since they may
have ended; races that racecheck reports, since it does not compare values and the emulated device does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import JsonValue

from audit.model import Grade
from audit.probes.called import Call, Mode, SessionBroken, value_calls
from audit.probes.cases import Case
from audit.probes.own_kernels import own_kernels
from audit.probes.target import Target
from audit.review.cuda_source import parse

PROVED = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address", "misaligned-access")
"""Behaviour that is wrong on every GPU, but for that of MAY_BE_SHARED."""
MAY_BE_SHARED = ("where another one of the block may lie on a GPU", "that a GPU may give the block beside them")
"""Parts of the messages of an access past a shared array by no more than the block's others and the rest of a unit of
shared memory hold: no GPU stops it."""
FAULTS = ("illegal memory access", "misaligned address")
"""CUDA's texts for accesses that only a kernel makes: outside every allocation, or a misaligned vector."""
REFUSED_COPY = "copy-refused"
"""A copy to or from a variable of the device that did nothing and answered an error: every GPU does the same."""
NO_BEHAVIOUR = ("launch-refused", "static-shared-too-large")
"""Reports about neither accesses nor synchronisation."""
VALUES = ("uninitialised-read", "exited-lane-read")
OPEN = ("masked-lane-read", "open-padding-read")
"""Elements of a load in Triton to which the source gives no value. Reported where the result depends on them."""
WITHIN_A_BLOCK = (*PROVED, "race-shared", "warp-mask", "barrier-divergence", "unfinished-copy", "constant-write")
"""Behaviour that a few blocks of a launch show as all of them do."""
UNSYNCHRONISED, ACROSS_BLOCKS = "warp-mask", "race-global"
"""Behaviour that may give more results than the tested orders do, or than a few blocks of a launch do."""
RACES = ("race-shared", ACROSS_BLOCKS)
BEHAVIOUR = (*WITHIN_A_BLOCK, ACROSS_BLOCKS, *VALUES)
WITHIN_A_WARP = "another lane of the warp"
"""Part of the message of a race between lanes of one warp."""
OF_OTHERS = ("uninitialised-read-of-input",)
NO_ANSWER = "no-answer"
CHECKER = "access checker"
_SHARED_READ = re.compile(r"\bshared\b")
_RANK: dict[Grade, int] = {"proved": 0, "undefined": 1, "hint": 2}


@dataclass(frozen=True)
class Behaviour:
    """One kind of behaviour at one line of one kernel; `proof` is its observer."""

    kind: str
    message: str
    kernel: str
    line: int | None
    count: int
    proof: str
    grade: Grade

    def evidence(self) -> dict[str, JsonValue]:
        """Return the values for the record."""
        values: dict[str, JsonValue] = {"kind": self.kind, "message": self.message, "kernel": self.kernel}
        return {**values, "line": self.line, "count": self.count, "proof": self.proof, "grade": self.grade}


def sentence(seen: Mapping[str, Any]) -> str:
    """Return behaviour in words, with line and count; from `Behaviour.evidence`."""
    line = f" in line {seen['line']}" if seen["line"] else ""
    times = f" ({seen['count']:,} times)" if seen["count"] > 1 else ""
    return f"{seen['kind']}{line} of {seen['kernel']}{times}: {seen['message']}"


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
    seen = [_seen(one, _grade(one, own=own, depends=False)) for one in located]
    return min(seen, key=lambda one: _RANK[one.grade], default=None)


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


def lanes_interleave(seen: Iterable[tuple[str, str]]) -> bool:
    """Return whether the order of lanes within a warp may decide, by the kinds and messages of the behaviour."""
    known = list(seen)
    races = [message for kind, message in known if kind in RACES]
    return any(kind == UNSYNCHRONISED for kind, _ in known) or (
        bool(races) and all(WITHIN_A_WARP in message for message in races)
    )


def _right_ones(target: Target, case: Case) -> Iterator[bool]:
    """Yield whether the result is right, for each order and fill; True for a broken session, which proves nothing."""
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
    loads = [one for one in reports if one["kind"] in OPEN]
    asked = [one for one in reports if one["kind"] not in (NO_ANSWER, *OPEN)]
    asked += _deciding(target, case, loads)
    values = [one for one in asked if one["kind"] in VALUES]
    depends = bool(values) and _depends(target, case)
    own = _own_functions(target)
    seen = [_seen(one, _grade(one, own=own, depends=depends)) for one in asked]
    return Checked(
        seen=tuple(sorted(seen, key=lambda one: (_RANK[one.grade], WITHIN_A_WARP in one.message))),
        launches=tuple(call.launches),
        unanswered=unanswered,
        fills=len(target.built.fills) if values else 0,
        most_writes=call.event.get("most_writes"),
    )


def _grade(report: dict[str, Any], *, own: frozenset[str], depends: bool) -> Grade:
    kind, by_tool = report["kind"], report.get("tool") is not None
    if kind in (*OF_OTHERS, REFUSED_COPY, *OPEN) or (by_tool and not _is_own(report["kernel"], own)):
        return "hint"
    if is_proved(report):
        return "proved"
    if by_tool and kind == "uninitialised-read" and _SHARED_READ.search(report["message"]):
        return "hint"
    if by_tool and kind in ("barrier-divergence", "race-shared"):
        return "hint"
    if kind in VALUES:
        return "undefined" if depends else "hint"
    return "undefined"


def is_proved(report: Mapping[str, Any]) -> bool:
    """Return whether reported behaviour is wrong on every GPU."""
    return report["kind"] in PROVED and not any(text in report["message"] for text in MAY_BE_SHARED)


def _seen(report: dict[str, Any], grade: Grade) -> Behaviour:
    keys = ("kind", "message", "kernel", "line", "count")
    return Behaviour(**{key: report[key] for key in keys}, proof=report.get("tool") or CHECKER, grade=grade)


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


def _is_own(function: str, own: frozenset[str]) -> bool:
    """Return whether a name, `void ns::k<(bool)0>(T1 *)` or `[clone k(int *)] f()`, is one of those functions."""
    return any(re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<(\]]|$)", function) for name in own)


def faulted(raised: str) -> bool:
    """Return whether an exception reports a kernel's fault."""
    return any(fault in raised for fault in FAULTS)
