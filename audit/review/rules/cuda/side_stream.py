"""Is work sent to a stream of its own that nothing in the file waits for?

Silent where the file joins streams: a recorded event that another stream than its own waits for, or a synchronisation.
"""

from __future__ import annotations

from audit.review.cuda_reading import Call, CudaReading
from audit.review.rule import Rule, Spot, names

_CREATE = names("""
    cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority getStreamFromPool getStreamFromExternal
""")
_WAIT = "cudaStreamWaitEvent"
_JOIN = names("""
    cudaStreamWaitEvent cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize block synchronize
    device_synchronize stream_synchronize
""")


def find(reading: CudaReading) -> list[Spot]:
    """Where streams come from, in a file in which nothing but those streams waits."""
    made = [call for call in reading.calls if call.name in _CREATE]
    own = {_first(reading, call) for call in made if call.arguments}
    waits = [call for call in reading.calls if call.name in _JOIN]
    if any(call.name != _WAIT or _first(reading, call) not in own for call in waits):
        return []
    return [Spot(call.line, f"{call.name} makes a stream that nothing here waits for") for call in made]


def _first(reading: CudaReading, call: Call) -> str:
    """Return the first argument as it is written, without the sign that takes its address."""
    return reading.text(call.arguments[0]).lstrip("&") if call.arguments else ""


RULE = Rule("side_stream", __doc__, "current_stream", find)
