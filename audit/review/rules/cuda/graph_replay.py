"""Is work recorded once and replayed?

Silent on code that only asks whether a capture is going on.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(["cudaGraphLaunch", "cudaGraphInstantiate", "cudaStreamBeginCapture", "capture_begin", "replay"])


def find(reading: CudaReading) -> list[Spot]:
    """Where a graph is captured, made or launched."""
    used = [call for call in reading.calls if call.name in _CALLS]
    return [Spot(call.line, f"{call.name}: a replayed graph reads the addresses it was recorded with") for call in used]


RULE = Rule("graph_replay", __doc__, "fresh_values", find)
