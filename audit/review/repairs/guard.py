"""An access outside of its memory: a comparison that lets one thread too many pass, or a guard that is not there.

A guard is proposed where a kernel takes one whole number and never compares its place with anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from audit.model import Finding
from audit.model.generated import Change
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import operator
from audit.review.repairs.lines import inserted, replaced, reports
from audit.review.thread_values import COMPARISONS, ThreadValues

BAD = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address")
STRICT = {"<=": "<", ">": ">="}
"""A comparison of a place with a size that lets the place equal the size, and the one that does not."""
_NUMBER = re.compile(r"\b(?:int|long|unsigned|size_t|u?int(?:32|64)_t)\b")
_WAITS = re.compile(r"__sync|__shfl|barrier|\bsync\b")
_GLOBAL = re.compile(r"blockIdx\.([xyz])\*blockDim\.\1\+threadIdx\.\1|threadIdx\.([xyz])\+blockIdx\.\2\*blockDim\.\2")
_CAST = re.compile(r"static_cast<[\w:]+>|\((?:int|long|size_t|int64_t)\)")


def propose(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the stricter comparisons of the kernels with such an access, or the guard of one that has none."""
    lines = {one["line"] for one in reports(proved, BAD)}
    return [change for each in reading.kernels if _holds(reading, each, lines) for change in _guarded(reading, each)]


def _holds(reading: CudaReading, kernel: Function, lines: set[int]) -> bool:
    last = reading.source.line_of(kernel.end - 1)
    return any(kernel.line <= line <= last for line in lines)


def _guarded(reading: CudaReading, kernel: Function) -> list[Change]:
    place = ThreadValues(reading, kernel, r"threadIdx\.[xyz]")
    compared = [node for node in reading.inside(kernel, "binary_expression") if operator(node) in COMPARISONS]
    own = [node for node in compared if place.holds(node)]
    sizes = [one.name for one in kernel.parameters if not one.is_pointer and _NUMBER.search(one.text)]
    if own:
        return [change for node in own for change in _stricter(reading, node, sizes)]
    body = reading.source.masked[kernel.body_start : kernel.end]
    return [] if len(sizes) != 1 or _WAITS.search(body) else _new(reading, kernel, sizes[0])


def _stricter(reading: CudaReading, node: Node, sizes: list[str]) -> list[Change]:
    right, sign = node.child_by_field_name("right"), node.child_by_field_name("operator")
    if right is None or sign is None or sign.type not in STRICT or reading.text(right) not in sizes:
        return []
    what = f"comparison {STRICT[sign.type]} on line {reading.line(node)}"
    return replaced(reading.source, sign.start_byte, sign.end_byte, STRICT[sign.type], what=what)


def _new(reading: CudaReading, kernel: Function, size: str) -> list[Change]:
    for variable in reading.variables_in(kernel):
        value = "".join(reading.text(variable.value).split()) if variable.value else ""
        if not _GLOBAL.fullmatch(_CAST.sub("", value).strip("()")):
            continue
        lines, (row, column) = reading.source.text.split("\n"), variable.node.end_point
        after = lines[row][column:].strip()
        if (not after or after.startswith("//")) and reading.parent(variable.node) == kernel.body:
            indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
            text = f"{indent}if ({variable.name} >= {size}) return;"
            return inserted(row + 2, text, what=f"guard before line {row + 2}")
    return []
