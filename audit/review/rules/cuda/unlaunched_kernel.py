"""Is there a kernel that nothing names outside its own definition?

Silent where names are pasted together in macros.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot


def find(reading: CudaReading) -> list[Spot]:
    """Kernels that no launch, pointer or macro can reach."""
    source = reading.source
    bodies = [source.masked[macro.body_start : macro.end] for macro in source.macros]
    if any("##" in body for body in bodies):
        return []
    named = set(re.findall(r"\w+", " ".join(bodies))) | {launch.kernel_name for launch in source.launches}
    spots = []
    for kernel in reading.kernels:
        outside = [
            node
            for node in reading.mentions.get(kernel.name, ())
            if not _own(kernel.start, kernel.end, node.start_byte)
        ]
        if kernel.name and kernel.name not in named and not outside:
            spots.append(Spot(kernel.line, f"kernel {kernel.name} is defined and nothing launches it"))
    return spots


def _own(start: int, end: int, offset: int) -> bool:
    return start <= offset < end


RULE = Rule("unlaunched_kernel", __doc__, "kernels_ran", find)
