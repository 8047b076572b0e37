"""Does a launch leave out an axis that its kernel turns into the index of a store?

Silent where grid or block come from a name that the source does not show, where a loop strides over the axis, and where
another launch of the kernel fits.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Launch
from audit.review.index_use import Axis, IndexUse, Known, index_uses
from audit.review.launch_extents import Extents, grid_and_block
from audit.review.rule import Rule, Spot

PROBE = "coverage"


def find(reading: CudaReading) -> list[Spot]:
    """Return the launches that do not span an axis, first by line, then by axis.

    A kernel that computes a row from `blockIdx.y` and `threadIdx.y` needs a launch that has a y axis: where grid and
    block are one-dimensional, every row index is 0.
    """
    source = reading.source
    found: list[tuple[int, Axis, Spot]] = []
    known: Known = {}
    for kernel in reading.kernels:
        alone = len(source.by_name[kernel.name]) == 1
        launches = source.launches_of.get(kernel.name, []) if alone else []
        uses = index_uses(source, kernel, known) if launches else []
        shapes = [grid_and_block(source, launch) for launch in launches] if uses else []
        for use in uses:
            spots = [_spot(launch, use, *shape) for launch, shape in zip(launches, shapes, strict=True)]
            if all(spots):  # else some launch fits
                found += [(spot.line, use.axis, spot) for spot in spots if spot]
    return [spot for _, _, spot in sorted(found)]


def _spot(launch: Launch, use: IndexUse, grid: Extents, block: Extents) -> Spot | None:
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
    return Spot(launch.line, message)


RULE = Rule("launch_geometry", __doc__, PROBE, find)
