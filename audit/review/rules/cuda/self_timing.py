"""Does the candidate measure time itself?

Silent on events that only order streams, and on device clocks used for nothing but waiting.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_TIMERS = frozenset(["cudaEventElapsedTime", "elapsed_time", "clock_gettime", "gettimeofday"])


def find(reading: CudaReading) -> list[Spot]:
    """Where elapsed time is asked for."""
    asked = [call for call in reading.calls if call.name in _TIMERS or ("chrono" in call.scope and call.name == "now")]
    return [Spot(call.line, f"{call.name} measures time inside the candidate") for call in asked]


RULE = Rule("self_timing", __doc__, "first_call", find)
