"""The source rule "launch dimensions against index use".

A kernel that computes a row from `blockIdx.y` and `threadIdx.y` needs a launch that has a y axis. Where grid and
block are one-dimensional, every row index is 0. The rule speaks only where the source says both plainly.
"""

from __future__ import annotations

from dataclasses import dataclass

from audit.review.cuda_source import CudaSource, Launch
from audit.review.index_use import Axis, IndexUse, index_uses
from audit.review.launch_extents import Extents, grid_and_block

PROBE = "coverage"


@dataclass(frozen=True)
class GeometryHint:
    """A launch that does not span an axis its kernel indexes. A hint, never a verdict.

    Args:
        line: the line of the launch.
        kernel: the plain name of the kernel.
        axis: the axis that the launch does not span.
        index_line: the line that forms the index.
        message: one sentence for the reader.
        probe: the probe that can confirm it.
    """

    line: int
    kernel: str
    axis: Axis
    index_line: int
    message: str
    probe: str = PROBE


def hints(source: CudaSource) -> list[GeometryHint]:
    """The hints of a source, by line. A kernel that some launch fits gives none."""
    found: list[GeometryHint] = []
    for kernel in (each for each in source.functions if each.kind == "kernel"):
        launches = [launch for launch in source.launches if launch.kernel_name == kernel.name]
        alone = sum(each.name == kernel.name for each in source.functions) == 1
        if not launches or not alone:
            continue
        uses = index_uses(source, kernel)
        shapes = [grid_and_block(source, launch) for launch in launches] if uses else []
        for use in _first_of_each_axis(uses):
            judged = [_hint(launch, use, *shape) for launch, shape in zip(launches, shapes, strict=True)]
            if all(judged):
                found += [hint for hint in judged if hint]
    return sorted(found, key=lambda hint: (hint.line, hint.axis))


def _first_of_each_axis(uses: frozenset[IndexUse]) -> list[IndexUse]:
    first: dict[Axis, IndexUse] = {}
    for use in sorted(uses, key=lambda use: use.line):
        first.setdefault(use.axis, use)
    return list(first.values())


def _hint(launch: Launch, use: IndexUse, grid: Extents, block: Extents) -> GeometryHint | None:
    position = "xyz".index(use.axis)
    blocks, threads = grid[position], block[position]
    if blocks != 1 or threads is None:
        return None
    reached = "only index 0 of that axis is" if threads == 1 else f"only indices 0 to {threads - 1} of that axis are"
    extent = f"have extent 1 along {use.axis}" if threads == 1 else f"have extents 1 and {threads} along {use.axis}"
    message = (
        f"kernel {launch.kernel_name} forms an index from blockIdx.{use.axis} and threadIdx.{use.axis} "
        f"(line {use.line}), but grid and block of the launch on line {launch.line} {extent}: {reached} ever "
        f"computed; the {PROBE} probe can confirm it"
    )
    return GeometryHint(launch.line, launch.kernel_name, use.axis, use.line, message)
