"""Is the number of blocks rounded down, so that a rest of the problem has no thread?

Silent where the kernel loops, where the host compares a remainder or rounds up, and where the division is by a constant
of one.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function, Launch
from audit.review.launch_extents import grid_and_block
from audit.review.rule import Rule, Spot

_SIZE = re.compile(r"\.\s*(?:size|numel)\s*\(")


def find(reading: CudaReading) -> list[Spot]:
    """Launches whose grid is a plain quotient of a size."""
    left_out = "blocks leave out what the division does not come out even with"
    return [Spot(reading.line(node), f"{reading.written(node)} {left_out}") for node in quotients(reading)]


def quotients(reading: CudaReading) -> list[Node]:
    """Return the quotient of each such launch."""
    return [node for launch in reading.source.launches if not launch.in_macro for node in _of_launch(reading, launch)]


def _of_launch(reading: CudaReading, launch: Launch) -> list[Node]:
    host = reading.source.function_at(launch.start)
    kernel = reading.kernel(launch.kernel_name)
    if host is None or host.kind != "host" or kernel is None:
        return []
    if kernel in reading.looping:
        return []
    if reading.operations("%", host.body_start, host.end):
        return []
    for node in _divisions(reading, launch, host):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and _is_size(reading, left) and _is_block(reading, launch, right):
            return [node]
    return []


def _divisions(reading: CudaReading, launch: Launch, host: Function) -> list[Node]:
    """Quotients that begin the launch's first argument, or the value of the variable that it names."""
    first, last = launch.configuration_start, launch.configuration_start + len(launch.configuration[0]) + 1
    if variable := reading.declared(launch.configuration[0].strip(), host, launch.start):
        if variable.value is None:
            return []
        first, last = variable.value.start_byte, variable.value.end_byte
    return [node for node in reading.operations("/", first, first + 1) if node.end_byte <= last]


def _is_size(reading: CudaReading, node: Node) -> bool:
    if node.type == "identifier":
        value = reading.only_value(reading.text(node))
        return value is not None and bool(_SIZE.search(reading.text(value))) and "+" not in reading.text(value)
    return node.type == "call_expression" and bool(_SIZE.search(reading.text(node)))


def _is_block(reading: CudaReading, launch: Launch, node: Node) -> bool:
    """Return whether the divisor is how many threads the block has."""
    if reading.text(node) == launch.configuration[1]:
        return True
    _, block = grid_and_block(reading.source, launch)
    return block[0] is not None and reading.text(node) == str(block[0])


RULE = Rule("floor_grid", __doc__, "coverage", find)
