"""Kinds of behaviour that a checker reports, and the grade of each by the CUDA programming model.

    race-shared, race-global  two threads access one word, one writes, and nothing orders the two. No race: atomics,
                              volatile flags in device memory, and writes that all leave the same value. A hint where
                              only reads race and the result is the same, bit for bit, whatever they get.
    warp-mask                 a lane is not in the mask it passes, a live lane of the mask never arrives, or lanes
                              exchange data through volatile memory alone. A mask may name lanes that have ended.
    out-of-bounds-read,       past a shared array by no more than the block may have there on a GPU, which rounds
    out-of-bounds-write       shared memory up and places arrays as its compiler likes. Any other one is proved.
    barrier-divergence        threads of a block wait at different barriers. No barrier waits for ended threads.
    uninitialised-read,       a value that was never written, or of an inactive lane. Undefined where the result
    exited-lane-read          depends on it, which is tested with several fills; a hint where it does not: known-good
                              code reads tiles past their used part and drops the values.
    constant-write            device code writes a `__constant__` variable. An H100 stops the kernel.

Only a hint: open elements of a load in Triton (no `other`, no padding_option) on which the result depends, since Triton
makes zeros of them for NVIDIA GPUs and known-good code relies on it; copies to or from variables that a GPU refuses,
where the values decide; reports of a tool in functions of others, by name; reads of shared memory that initcheck
reports, since a compiler may read ahead and no fill can be tested; threads that synccheck finds absent, since they may
have ended; races that racecheck reports, since it does not compare values and the emulated device does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from audit.model import Grade

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
HIDDEN = "hidden-read"
"""A plain read that races with a write, where another value was given to it."""
UNUSED = "; whatever is read there, the result is the same"
"""Behind the message of a race none of whose reads reaches the result."""
BEHAVIOUR = (*WITHIN_A_BLOCK, ACROSS_BLOCKS, *VALUES)
WITHIN_A_WARP = "another lane of the warp"
"""Part of the message of a race between lanes of one warp."""
OF_OTHERS = ("uninitialised-read-of-input",)
NO_ANSWER = "no-answer"
CHECKER = "access checker"
_SHARED_READ = re.compile(r"\bshared\b")
RANK: dict[Grade, int] = {"proved": 0, "undefined": 1, "hint": 2}


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


def grade(report: dict[str, Any], *, own: frozenset[str], depends: bool) -> Grade:
    """Return the grade of a report; `own` are functions of the source, `depends` says that the result follows fills.

    A race is a hint where its message says that it is UNUSED.
    """
    kind, by_tool = report["kind"], report.get("tool") is not None
    if kind in (*OF_OTHERS, REFUSED_COPY, *OPEN) or (by_tool and not is_own(report["kernel"], own)):
        return "hint"
    if is_proved(report):
        return "proved"
    if by_tool and kind == "uninitialised-read" and _SHARED_READ.search(report["message"]):
        return "hint"
    if by_tool and kind in ("barrier-divergence", "race-shared"):
        return "hint"
    unused = (kind in VALUES and not depends) or (kind in RACES and report["message"].endswith(UNUSED))
    return "hint" if unused else "undefined"


def is_proved(report: Mapping[str, Any]) -> bool:
    """Return whether reported behaviour is wrong on every GPU."""
    return report["kind"] in PROVED and not any(text in report["message"] for text in MAY_BE_SHARED)


def of_report(report: dict[str, Any], graded: Grade) -> Behaviour:
    """Return the behaviour that a report is about."""
    keys = ("kind", "message", "kernel", "line", "count")
    return Behaviour(**{key: report[key] for key in keys}, proof=report.get("tool") or CHECKER, grade=graded)


def is_own(function: str, own: frozenset[str]) -> bool:
    """Return whether a name, `void ns::k<(bool)0>(T1 *)` or `[clone k(int *)] f()`, is one of those functions."""
    return any(re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<(\]]|$)", function) for name in own)


def lanes_interleave(seen: Iterable[tuple[str, str]]) -> bool:
    """Return whether the order of lanes within a warp may decide, by the kinds and messages of the behaviour."""
    known = list(seen)
    races = [message for kind, message in known if kind in RACES]
    return any(kind == UNSYNCHRONISED for kind, _ in known) or (
        bool(races) and all(WITHIN_A_WARP in message for message in races)
    )


def faulted(raised: str) -> bool:
    """Return whether an exception reports a kernel's fault."""
    return any(fault in raised for fault in FAULTS)
