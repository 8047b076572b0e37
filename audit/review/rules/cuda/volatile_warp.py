"""Does code rely on a warp running in step, with `volatile` shared memory in place of a barrier?

Silent where the same function calls `__syncwarp` or a block barrier after each step, and on volatile global memory.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_SYNC = frozenset({"__syncwarp", "__syncthreads"})


def find(reading: CudaReading) -> list[Spot]:
    """Functions that step through volatile shared memory."""
    spots = []
    for function in reading.source.functions:
        names = {each.name for each in function.parameters if re.search(r"\bvolatile\b.*\*", each.text)}
        calls = {call.name for call in reading.calls_in(function)}
        if function.kind != "device" or not names or calls & _SYNC:
            continue
        steps = [
            node
            for node in reading.inside(function, "assignment_expression")
            if (left := node.child_by_field_name("left")) is not None
            and left.type == "subscript_expression"
            and (base := re.match(r"\w+", reading.text(left))) is not None
            and base[0] in names
        ]
        if len(steps) > 1:
            text = f"function {function.name} steps through volatile memory and relies on its warp running in step"
            spots.append(Spot(reading.line(steps[0]), text))
    return spots


RULE = Rule("volatile_warp", __doc__, "memory_access", find)
