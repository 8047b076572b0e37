"""Put the verdict of a kernel into one class of causes, by a table over the words of its record.

Nothing is read from the source: a class says what a probe observed, and the readers of `readings.csv` say what the
defect in the source is. The first line of the table that fits counts, so that a kernel has one class; a line that
stands earlier explains more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

UNDECIDED, OTHER = "", "other"
FAILED = ("wrong", "undefined")
OUT_OF_BOUNDS = "(out-of-bounds-read|out-of-bounds-write|illegal-address)"
VALUES = "(agreement|claimed_blocks|order)"
CLASSES: Mapping[tuple[str, ...], Sequence[tuple[str, str]]] = {
    FAILED: (
        ("an integer overflows at the claimed size", r"launch of .* refused: .*grid \((\d+, )*(2[1-9]|[3-9]\d)\d{8}\b"),
        ("a launch that the GPU refuses", r"(the GPU refuses this launch|invalid configuration)"),
        ("the host code refuses the claimed size", r"comes back with a result"),
        ("a result of another shape, type or number", r"^(contract|claimed_blocks): .*\bexpected an? .*\bgot "),
        ("out of bounds of shared memory", rf"{OUT_OF_BOUNDS}.* outside every shared variable"),
        ("out of bounds of global memory", rf"^\w+: .*{OUT_OF_BOUNDS}"),
        ("a misaligned address", r"misaligned[- ]address|misaligned-access"),
        ("output left unwritten", r"^coverage: |elements are never written"),
        ("shared memory read before it is written", r"uninitialised-read.* reads shared"),
        ("shared memory read before it is written", r"follow what shared memory held before"),
        ("unwritten global memory read", r"uninitialised-read"),
        ("a race on shared memory", r"race-shared"),
        ("a race on global memory", r"race-global"),
        ("a lane that takes no part in a shuffle is read", r"exited-lane-read"),
        ("lanes of a warp without synchronisation", r"warp-mask"),
        ("wrong values, a NaN among them", rf"^{VALUES}: .*elements( they write are)? wrong.* got nan"),
        ("wrong values at the task's own inputs", rf"^{VALUES}: .*elements( they write are)? wrong"),
        ("right at the task's own inputs, wrong at others", r"^(fresh_values|distributions|repeat|inherited): "),
        ("part of an input has no effect", r"^dead_inputs: "),
    ),
    ("overstated",): (
        ("no kernel in the source", r"the source has no kernel of its own"),
        ("the claimed size launches none of the source's kernels", r"launches none of the source's kernels"),
        ("none of the source's kernels runs", r"^kernels_ran: "),
    ),
    ("reduced precision",): (("fewer bits than the declared type has", r"^precision: "),),
    ("vacuous",): (("the task takes trivial candidates for right", r""),),
    ("cannot be built",): (
        ("no function is bound for Python", r"binds no function for Python"),
        ("more constant memory than there is", r"too much global constant data"),
        ("a name is not declared", r"identifier .* is undefined|must be a class or namespace name|is not a template"),
        ("no member of that name", r"has no member|has no field"),
        ("a size that is no constant", r"must have a constant value"),
        ("no overload fits, or several do", r"more than one instance|no instance of|no operator|no suitable|ambiguous"),
        ("a form that torch or CUDA no longer takes", r"DeprecatedTypeProperties|ScalarTypeToCPPType|__v\d+::"),
        (
            "arguments or types that do not fit",
            r"too (few|many)|incompatible|conversion|argument|operand|lvalue|\bm(ust|ay)\b",
        ),
        ("a declaration that is given twice", r"already been (declared|defined)|redefinition|redeclar"),
        ("a text that ends early, or its grammar", r"expected an? |end of (file|source)|unrecognized"),
        ("the assembler or the linker refuses it", r"ptxas|nvlink|undefined reference|undefined symbol"),
    ),
    ("no answer",): (
        ("the task's own reference fails", r"the task as read fails its own reference"),
        ("wrong at a smaller size alone", r"^(?!memory_access)\w+: .*(wrong|never written).*the claim does not speak"),
        ("wrong at a smaller size alone", r"^claimed_blocks: .*a smaller shape that counts"),
        ("undefined at a smaller size alone", r"^memory_access: .*the claim does not speak of this shape"),
        ("processor time ran out", r"ran out of its processor time|not over within"),
        ("arguments other than the task's", r"incompatible function arguments|bad optional access|element sequences"),
        ("a form that the emulated device lacks", r"^a build: "),
        ("a crash or an exception in the host code", r"^contract: .*(is refused|raised|crashed|the call)"),
    ),
}
"""Verdicts, and the classes of each with a pattern that one piece of evidence must hold."""


def of(verdict: str, evidence: Sequence[str]) -> str:
    """Return the class of a verdict with its evidence, `PROBE: WORDS` each; empty where there is no class to name."""
    lines = next((lines for verdicts, lines in CLASSES.items() if verdict in verdicts), None)
    if lines is None:
        return UNDECIDED
    return next((name for name, words in lines if any(re.search(words, one) for one in evidence)), OTHER)


def evidence(record: Path, reasons: Sequence[str]) -> list[str]:
    """Return the reasons of a verdict and each failure of its record that counts, with what the checker reported."""
    found: list[Any] = json.loads(record.read_text(encoding="utf-8"))["findings"] if record.exists() else []
    counted = [one for one in found if one["outcome"] == "fail" and one["target"] == "claimed"
               and one.get("grade") in {"proved", "undefined"} and one.get("claimed", True)]  # fmt: skip
    return [*reasons, *(line for one in counted for line in _lines(one))]


def _lines(finding: dict[str, Any]) -> list[str]:
    reports = finding["evidence"].get("reports") or []
    told = [f"{finding['probe']}: {one['kind']} {one['message']}" for one in reports if isinstance(one, dict)]
    return [f"{finding['probe']}: {finding['summary']}", *told]
