"""Does a launch leave out an axis that its kernel turns into the index of a store?

Silent where grid or block come from a name that the source does not show, where a loop strides over the axis, and where
another launch of the kernel fits.
"""

from __future__ import annotations

from audit.review import launch_geometry
from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot


def find(reading: CudaReading) -> list[Spot]:
    """The launches that do not span an axis."""
    return [Spot(hint.line, hint.message) for hint in launch_geometry.hints(reading.source)]


RULE = Rule("launch_geometry", __doc__, launch_geometry.PROBE, find)
