"""Repairs of host code, where coverage proved elements unwritten: a grid that spans them, memory filled with zeros.

Rows or planes: a grid that spans the axis from which the kernel takes an index, where it compares that index with a
parameter; the launch says what it hands over there, and that is the extent. A rest: a number of blocks that is rounded
up, where the source rule `floor_grid` finds the quotient. An output that keeps what its memory held: the same
allocation, filled with zeros, where the source has one allocation that does not fill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.model import Finding
from audit.model.finding import Change, replaced
from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function, Launch
from audit.review.index_use import Axis, index_uses
from audit.review.launch_extents import grid_and_block
from audit.review.repairs.device_code import reports
from audit.review.rules.cuda.grids import quotients
from audit.review.token_scan import split_commas
from audit.review.values import ThreadValues

_PLAIN = re.compile(r"[\w\s.:()<>,*/+-]{1,80}")
"""An expression that can stand at two places: no assignment, and no step, which `_STEP` finds."""
_STEP, _NAME = re.compile(r"\+\+|--"), re.compile(r"\w+")


def spanned(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return a change for each launch that does not span an axis."""
    if not _failed(proved, "coverage"):
        return []
    found = []
    for kernel in reading.kernels:
        launches = reading.source.launches_of.get(kernel.name, [])
        if len(reading.source.by_name[kernel.name]) == 1 and len(launches) == 1:
            uses = index_uses(reading.source, kernel, {})
            found += [change for axis in uses for change in _spanned(reading, kernel, launches[0], axis)]
    return found


def _spanned(reading: CudaReading, kernel: Function, launch: Launch, axis: Axis) -> list[Change]:
    source, place = reading.source, "xyz".index(axis)
    grid, block = grid_and_block(reading, launch)
    threads, extent = block[place], _extent(reading, kernel, launch, axis)
    if grid[place] != 1 or threads is None or extent is None:
        return []
    closed = extent if _NAME.fullmatch(extent) else f"({extent})"
    blocks = extent if threads == 1 else f"({closed} + {threads} - 1) / {threads}"
    (start, end), *_ = split_commas(source.masked, launch.configuration_start, launch.configuration_end)
    sides = _sides(reading, launch, source.code[start:end].strip())
    new = f"dim3({', '.join([*sides[:place], blocks])})" if sides else ""
    return replaced(source.text, start, end, new, what=f"{place + 1}-D grid") if new else []


def _extent(reading: CudaReading, kernel: Function, launch: Launch, axis: Axis) -> str | None:
    """Return what the launch hands over for the parameter that the index of that axis is held to."""
    bounds = _bounds(reading, kernel, ThreadValues(reading, kernel, rf"blockIdx\.{axis}"))
    places = [place for place, one in enumerate(kernel.parameters) if one.name in bounds and not one.is_pointer]
    handed = split_commas(reading.source.masked, launch.arguments_start, launch.end - 1)
    if len(places) != 1 or places[0] >= len(handed):
        return None
    text = reading.source.code[slice(*handed[places[0]])].strip()
    return text if _PLAIN.fullmatch(text) and not _STEP.search(text) else None


def _bounds(reading: CudaReading, kernel: Function, index: ThreadValues) -> set[str]:
    """Return the names that an index is compared with, as in `row < N` and `row >= N`."""
    compared = (node for node in reading.inside(kernel, "binary_expression") if operator(node) in ("<", ">="))
    names = (pair for _, *pair in sides(compared) if all(each.type == "identifier" for each in pair))
    return {reading.text(right) for left, right in names if index.holds(left)}


def _sides(reading: CudaReading, launch: Launch, grid: str) -> list[str]:
    """Return the expressions of the grid along x, y and z; empty where the text does not say whether it is a number."""
    host = reading.source.function_at(launch.start)
    declared = reading.declared(grid, host, launch.start) if host and _NAME.fullmatch(grid) else None
    kind = declared.type_text if declared else ""
    if "auto" in kind or not _PLAIN.fullmatch(grid):
        return []
    if "dim3" in kind or grid.startswith("dim3"):
        return [f"{grid}.{side}" for side in "xyz"]
    return [grid, "1", "1"]


def rounded(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the quotients, rounded up."""
    found = []
    for node, size, block in sides(quotients(reading) if _failed(proved, "coverage") else ()):
        if _NAME.fullmatch(divisor := reading.text(block)):
            new = f"({reading.text(size)} + {divisor} - 1) / {divisor}"
            what = f"grid rounded up on line {reading.line(node)}"
            found += replaced(reading.source.text, node.start_byte, node.end_byte, new, what=what)
    return found


FILLED = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
PROBES = ("coverage", "inherited")


def zeros(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the change of the one allocation."""
    if not _failed(proved, *PROBES) and not any(reports(proved, ["uninitialised-read"])):
        return []
    calls = [call for call in reading.calls if call.name in FILLED and (call.scope in ("torch", "at") or call.receiver)]
    if len(calls) != 1:
        return []
    node, name = calls[0].node, calls[0].name
    called = re.compile(rf"\b{name}\b").search(reading.source.masked, node.start_byte, node.end_byte)
    if called is None:
        return []
    return replaced(reading.source.text, *called.span(), FILLED[name], what="zero-initialised output")


def _failed(proved: Sequence[Finding], *probes: str) -> bool:
    """Return whether one of those probes proved a failure."""
    return any(one.probe in probes for one in proved)
