"""Does a kernel index memory by its thread's place without ever comparing that place with a size?

Silent where anything computed from the place is compared, where it is handed to another function, and where the host
makes sure of a multiple.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import operator
from audit.review.launch_extents import grid_and_block
from audit.review.rule import Rule, Spot
from audit.review.thread_values import COMPARISONS, ThreadValues

_THREAD, _BLOCK = r"threadIdx\.[xyz]", r"blockIdx\.[xyz]"


def find(reading: CudaReading) -> list[Spot]:
    """Return the first unguarded access of each kernel that is launched with a size of the problem."""
    if any(operator(node) == "%" for node in reading.nodes("binary_expression") if reading.in_host(node)):
        return []
    return [spot for kernel in reading.kernels if _sized(reading, kernel) for spot in _unguarded(reading, kernel)]


def _sized(reading: CudaReading, kernel: Function) -> bool:
    """Return whether some launch rounds its number of blocks up, so that threads past the end exist."""
    for launch in reading.source.launches_of.get(kernel.name, ()):
        if not launch.in_macro:
            grid, block = grid_and_block(reading.source, launch)
            text = launch.configuration[0]
            rounded = _adds_and_divides(text) or bool(_rounded_up(reading) & set(re.findall(r"\w+", text)))
            if grid[0] is None and block[0] != 1 and rounded:
                return True
    return False


@lru_cache(maxsize=1)
def _rounded_up(reading: CudaReading) -> set[str]:
    values = ((each.name, each.value) for each in reading.variables)
    return {name for name, value in values if value is not None and _adds_and_divides(reading.text(value))}


def _adds_and_divides(text: str) -> bool:
    return "+" in text and "/" in text


def _unguarded(reading: CudaReading, kernel: Function) -> list[Spot]:
    thread, block = ThreadValues(reading, kernel, _THREAD), ThreadValues(reading, kernel, _BLOCK)
    if _compared(reading, kernel, thread) or _handed_on(reading, kernel, thread):
        return []
    pointers = {each.name for each in kernel.parameters if each.is_pointer}
    for node in reading.inside(kernel, "subscript_expression"):
        base, index = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if base is None or index is None or reading.text(base) not in pointers:
            continue
        if thread.holds(index) and block.holds(index):
            text = f"kernel {kernel.name} accesses {reading.text(base)} here and never compares its place with a size"
            return [Spot(reading.line(node), text)]
    return []


def _compared(reading: CudaReading, kernel: Function, thread: ThreadValues) -> bool:
    compared = reading.inside(kernel, "binary_expression")
    return any(operator(node) in COMPARISONS and thread.holds(node) for node in compared)


def _handed_on(reading: CudaReading, kernel: Function, thread: ThreadValues) -> bool:
    """Return whether another function gets the place: `min`, or one that may compare it."""
    for node in reading.inside(kernel, "call_expression"):
        listed = node.child_by_field_name("arguments")
        if listed is not None and any(thread.holds(each) for each in _outside_subscripts(listed)):
            return True
    return False


def _outside_subscripts(listed: Node) -> list[Node]:
    found, stack = [], [listed]
    while stack:
        node = stack.pop()
        if node.named_child_count == 0:
            found.append(node)
        elif node.type != "subscript_expression":
            stack += node.named_children
    return found


RULE = Rule("tail_guard", __doc__, "memory_access", find)
