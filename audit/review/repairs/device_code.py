"""Repairs of device code: a barrier for a race over shared memory, a guard for an access outside of its memory.

A barrier, `__syncthreads()`, stands next to the statement that the access checker names, where all threads of a block
come: outside of every branch and loop that depends on `threadIdx`. A comparison that lets one thread too many pass
becomes the stricter one; a new guard is proposed where a kernel takes one whole number and never compares its place
with anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tree_sitter import Node

from audit.model import Finding
from audit.model.finding import Change, inserted, replaced
from audit.review.cuda_grammar import operator
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.values import COMPARISONS, ThreadValues

RACE = "race-shared"
_BARRIER = "__syncthreads();"
_BRANCHES = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
_ENDS = ("return_statement", "break_statement", "continue_statement")


def reports(proved: Sequence[Finding], kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the reports of an access checker that have one of those kinds and a line."""
    for finding in proved:
        listed = finding.evidence.get("reports") if finding.probe == "memory_access" else None
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and one.get("kind") in kinds and isinstance(one.get("line"), int):
                yield one


def barrier(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return barriers behind the first and before the last line of the race, then behind the last, before the first."""
    lines = sorted({one["line"] for one in reports(proved, [RACE])})
    found = [_around(reading, line) for line in dict.fromkeys([*lines[:1], *lines[-1:]])]
    placed = [each for each in found if each]
    if not placed:
        return []
    first, last = placed[0], placed[-1]
    return list(dict.fromkeys([*first[1], *last[0], *last[1], *first[0]]))


def _around(reading: CudaReading, line: int) -> tuple[list[Change], list[Change]] | None:
    """Return the barrier before the statement of that line and the one behind it; None outside of device code."""
    accesses = [node for node in reading.nodes("subscript_expression") if reading.line(node) == line]
    function = reading.function(accesses[0]) if accesses else None
    if function is None or function.kind == "host":
        return None
    statement = _reached_by_all(reading, function, accesses[0])
    return (_before(reading, statement), _behind(reading, statement)) if statement else None


def _reached_by_all(reading: CudaReading, function: Function, node: Node) -> Node | None:
    """Return the innermost statement around a node that stands where all threads of a block come."""
    thread = ThreadValues(reading, function, r"threadIdx\.[xyz]")
    chain = [node, *reading.ancestors(node)]
    parts = ((place, one.child_by_field_name(name)) for place, one in enumerate(chain) if one.type in _BRANCHES
             for name in ("condition", "initializer", "update"))  # fmt: skip
    divergent = [place for place, part in parts if part is not None and thread.holds(part)]
    for place in range(max(divergent, default=0), len(chain) - 1):
        if chain[place + 1].type == "compound_statement":
            return chain[place]
    return None


def _before(reading: CudaReading, statement: Node) -> list[Change]:
    lines, line = reading.source.text.split("\n"), reading.line(statement)
    indent = lines[line - 1][: statement.start_point[1]]
    pragma = line > 1 and lines[line - 2].lstrip().startswith("#")
    return [] if indent.strip() or pragma else _barrier(lines, line, indent)


def _behind(reading: CudaReading, statement: Node) -> list[Change]:
    lines, (row, column) = reading.source.text.split("\n"), statement.end_point
    after, first = lines[row][column:].strip(), lines[statement.start_point[0]]
    if statement.type in _ENDS or (after and not after.startswith("//")):
        return []
    return _barrier(lines, row + 2, _indent(first))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _barrier(lines: list[str], line: int, indent: str) -> list[Change]:
    """Return the barrier before that line, unless one stands there already."""
    beside = [one.strip() for one in lines[max(0, line - 2) : line]]
    return [] if _BARRIER in beside else inserted(line, f"{indent}{_BARRIER}", what=f"barrier before line {line}")


BAD = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address")
STRICT = {"<=": "<", ">": ">="}
"""A comparison of a place with a size that lets the place equal the size, and the one that does not."""
_NUMBER = re.compile(r"\b(?:int|long|unsigned|size_t|u?int(?:32|64)_t)\b")
_WAITS = re.compile(r"__sync|__shfl|barrier|\bsync\b")
_GLOBAL = re.compile(r"blockIdx\.([xyz])\*blockDim\.\1\+threadIdx\.\1|threadIdx\.([xyz])\+blockIdx\.\2\*blockDim\.\2")
_CAST = re.compile(r"static_cast<[\w:]+>|\((?:int|long|size_t|int64_t)\)")


def guard(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the stricter comparisons of the kernels with such an access, or the guard of one that has none."""
    lines = {one["line"] for one in reports(proved, BAD)}
    spans = [(each, range(each.line, reading.source.line_of(each.end - 1) + 1)) for each in reading.kernels]
    return [change for each, span in spans if not lines.isdisjoint(span) for change in _guarded(reading, each)]


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
    return replaced(reading.source.text, sign.start_byte, sign.end_byte, STRICT[sign.type], what=what)


def _new(reading: CudaReading, kernel: Function, size: str) -> list[Change]:
    for variable in reading.variables_in(kernel):
        value = "".join(reading.text(variable.value).split()) if variable.value else ""
        if not _GLOBAL.fullmatch(_CAST.sub("", value).strip("()")):
            continue
        lines, (row, column) = reading.source.text.split("\n"), variable.node.end_point
        after = lines[row][column:].strip()
        if (not after or after.startswith("//")) and reading.parent(variable.node) == kernel.body:
            text = f"{_indent(lines[row])}if ({variable.name} >= {size}) return;"
            return inserted(row + 2, text, what=f"guard before line {row + 2}")
    return []
