"""Rules about the extents of a launch: axes and elements that no thread reaches, and threads past the end."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function, Launch
from audit.review.index_use import Axis, Known, index_uses
from audit.review.launch_extents import Extents, grid_and_block
from audit.review.rule import OUTSIDE, Spot, rule
from audit.review.values import COMPARISONS, ThreadValues

PROBE, _LOOPS = "coverage", ("for_statement", "while_statement")
_SIZE = re.compile(r"\.\s*(?:size|numel)\s*\(")
_THREAD, _BLOCK = r"threadIdx\.[xyz]", r"blockIdx\.[xyz]"


@rule(PROBE)
def launch_geometry(reading: CudaReading) -> list[Spot]:
    """Does a launch leave out an axis that its kernel turns into the index of a store?

    Silent where grid or block come from a name that the source does not show, where a loop strides over the axis, and
    where another launch of the kernel fits.
    """
    source = reading.source
    found: list[tuple[int, Axis, Spot]] = []
    known: Known = {}
    for kernel in reading.kernels:
        alone = len(source.by_name[kernel.name]) == 1
        launches = source.launches_of.get(kernel.name, []) if alone else []
        uses = index_uses(source, kernel, known) if launches else {}
        shapes = [grid_and_block(reading, launch) for launch in launches] if uses else []
        for axis, line in uses.items():
            spots = [_spot(launch, axis, line, *shape) for launch, shape in zip(launches, shapes, strict=True)]
            if all(spots):  # else some launch fits
                found += [(spot.line, axis, spot) for spot in spots if spot]
    return [spot for _, _, spot in sorted(found)]


def _spot(launch: Launch, axis: Axis, line: int, grid: Extents, block: Extents) -> Spot | None:
    position = "xyz".index(axis)
    blocks, threads = grid[position], block[position]
    if blocks != 1 or threads is None:
        return None
    reached = "only index 0 of that axis is" if threads == 1 else f"only indices 0 to {threads - 1} of that axis are"
    extent = f"have extent 1 along {axis}" if threads == 1 else f"have extents 1 and {threads} along {axis}"
    message = (
        f"kernel {launch.kernel_name} forms an index from blockIdx.{axis} and threadIdx.{axis} "
        f"(line {line}), but grid and block of the launch on line {launch.line} {extent}: {reached} ever "
        f"computed; the {PROBE} probe can confirm it"
    )
    return Spot(launch.line, message)


@rule("coverage")
def floor_grid(reading: CudaReading) -> list[Spot]:
    """Is the number of blocks rounded down, so that a rest of the problem has no thread?

    Silent where the kernel loops, where the host compares a remainder or rounds up, and where the division is by a
    constant of one.
    """
    left_out = "blocks leave out what the division does not come out even with"
    return [Spot(reading.line(node), f"{reading.written(node)} {left_out}") for node in quotients(reading)]


def quotients(reading: CudaReading) -> list[Node]:
    """Return the quotient of each such launch."""
    return [node for launch in reading.source.launches if not launch.in_macro for node in _of_launch(reading, launch)]


def _of_launch(reading: CudaReading, launch: Launch) -> list[Node]:
    host = reading.source.function_at(launch.start)
    kernel = reading.kernel(launch.kernel_name)
    if host is None or host.kind != "host" or kernel is None or reading.inside(kernel, *_LOOPS):
        return []
    if reading.operations("%", host.body_start, host.end):
        return []
    for node, left, right in sides(_divisions(reading, launch, host)):
        if _is_size(reading, left) and _is_block(reading, launch, right):
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
    _, block = grid_and_block(reading, launch)
    return block[0] is not None and reading.text(node) == str(block[0])


@rule("memory_access", kinds=OUTSIDE)
def tail_guard(reading: CudaReading) -> list[Spot]:
    """Does a kernel index memory by its thread's place without ever comparing that place with a size?

    Silent where anything computed from the place is compared, where it is handed to another function, and where the
    host makes sure of a multiple.
    """
    if any(operator(node) == "%" for node in reading.nodes("binary_expression") if reading.in_host(node)):
        return []
    return [spot for kernel in reading.kernels if _sized(reading, kernel) for spot in _unguarded(reading, kernel)]


def _sized(reading: CudaReading, kernel: Function) -> bool:
    """Return whether some launch rounds its number of blocks up, so that threads past the end exist."""
    for launch in reading.source.launches_of.get(kernel.name, ()):
        if not launch.in_macro:
            grid, block = grid_and_block(reading, launch)
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
    compared = [node for node in reading.inside(kernel, "binary_expression") if operator(node) in COMPARISONS]
    if any(map(thread.holds, compared)) or _handed_on(reading, kernel, thread):
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


def _handed_on(reading: CudaReading, kernel: Function, thread: ThreadValues) -> bool:
    """Return whether another function gets the place: `min`, or one that may compare it."""
    lists = (node.child_by_field_name("arguments") for node in reading.inside(kernel, "call_expression"))
    return any(thread.holds(each) for listed in lists if listed is not None for each in _outside_subscripts(listed))


def _outside_subscripts(listed: Node) -> list[Node]:
    found, stack = [], [listed]
    while stack:
        node = stack.pop()
        if node.named_child_count == 0:
            found.append(node)
        elif node.type != "subscript_expression":
            stack += node.named_children
    return found
