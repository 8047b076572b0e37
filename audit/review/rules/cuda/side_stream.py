"""Is work sent to a stream of its own that nothing in the file waits for?

Silent where the file joins streams: a recorded event that is waited for, or a synchronisation.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_CREATE = frozenset(
    [
        "cudaStreamCreate",
        "cudaStreamCreateWithFlags",
        "cudaStreamCreateWithPriority",
        "getStreamFromPool",
        "getStreamFromExternal",
    ]
)
_JOIN = frozenset(
    [
        "cudaStreamWaitEvent",
        "cudaStreamSynchronize",
        "cudaDeviceSynchronize",
        "cudaEventSynchronize",
        "block",
        "synchronize",
        "device_synchronize",
        "stream_synchronize",
    ]
)


def find(reading: CudaReading) -> list[Spot]:
    """Where streams come from, in a file that joins none."""
    if any(call.name in _JOIN for call in reading.calls):
        return []
    made = [call for call in reading.calls if call.name in _CREATE]
    return [Spot(call.line, f"{call.name} makes a stream that nothing here waits for") for call in made]


RULE = Rule("side_stream", __doc__, "current_stream", find)
