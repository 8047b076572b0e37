"""A race over shared memory: `__syncthreads()` next to the statement that the access checker names.

The barrier stands where all threads of a block come: outside of every branch and loop that depends on `threadIdx`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from audit.model import Finding
from audit.model.generated import Change
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.repairs.lines import inserted, reports
from audit.review.thread_values import ThreadValues

RACE = "race-shared"
_BARRIER = "__syncthreads();"
_BRANCHES = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
_ENDS = ("return_statement", "break_statement", "continue_statement")


def propose(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
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
    divergent = [place for place, one in enumerate(chain) if one.type in _BRANCHES and _diverges(one, thread)]
    for place in range(max(divergent, default=0), len(chain) - 1):
        if chain[place + 1].type == "compound_statement":
            return chain[place]
    return None


def _diverges(branch: Node, thread: ThreadValues) -> bool:
    parts = (branch.child_by_field_name(name) for name in ("condition", "initializer", "update"))
    return any(part is not None and thread.holds(part) for part in parts)


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
    return _barrier(lines, row + 2, first[: len(first) - len(first.lstrip())])


def _barrier(lines: list[str], line: int, indent: str) -> list[Change]:
    """Return the barrier before that line, unless one stands there already."""
    beside = [one.strip() for one in lines[max(0, line - 2) : line]]
    return [] if _BARRIER in beside else inserted(line, f"{indent}{_BARRIER}", what=f"barrier before line {line}")
