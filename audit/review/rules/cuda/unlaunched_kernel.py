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
        mentions = reading.mentions.get(kernel.name, ())
        own = all(kernel.start <= node.start_byte < kernel.end for node in mentions)
        if kernel.name and kernel.name not in named and own:
            spots.append(Spot(kernel.line, f"kernel {kernel.name} is defined and nothing launches it"))
    return spots


RULE = Rule("unlaunched_kernel", __doc__, "kernels_ran", find)
