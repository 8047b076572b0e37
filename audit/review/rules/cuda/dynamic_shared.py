"""Does a kernel use dynamic shared memory that its launch does not ask for?

Silent where the launch gives any size but zero, and on launches in macros.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot


def find(reading: CudaReading) -> list[Spot]:
    """Launches with no dynamic shared memory of kernels that use some."""
    spots = []
    names = [name for each in reading.source.shared if each.dynamic for name, _ in each.names_and_dims]
    uses: dict[str, str | None] = {}
    for launch in reading.source.launches if names else ():
        kernel = reading.kernel(launch.kernel_name)
        none = len(launch.configuration) < 3 or launch.configuration[2] == "0"
        if launch.in_macro or kernel is None or not none:
            continue
        if kernel.name not in uses:  # the declaration itself is one mention
            several = (name for name in names if len(reading.mentioned(name, kernel)) > 1)
            uses[kernel.name] = next(several, None)
        if used := uses[kernel.name]:
            text = f"kernel {launch.kernel_name} uses dynamic shared memory ({used}) and this launch asks for none"
            spots.append(Spot(launch.line, text))
    return spots


RULE = Rule("dynamic_shared", __doc__, "memory_access", find)
