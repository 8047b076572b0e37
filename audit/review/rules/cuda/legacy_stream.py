"""Is a kernel launched on the legacy default stream, whatever stream the caller works on?

Silent where the launch names a stream, in macros, and in device code.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_NO_STREAM = frozenset({"0", "nullptr", "NULL", "cudaStreamLegacy"})


def find(reading: CudaReading) -> list[Spot]:
    """Launches without a stream."""
    source = reading.source
    host = [
        launch
        for launch in source.launches
        if not launch.in_macro and (function := source.function_at(launch.start)) and function.kind == "host"
    ]
    return [
        Spot(launch.line, f"kernel {launch.kernel_name} is launched on the legacy default stream, not on the caller's")
        for launch in host
        if len(launch.configuration) < 4 or launch.configuration[3] in _NO_STREAM
    ]


RULE = Rule("legacy_stream", __doc__, "current_stream", find, standing="advice")
