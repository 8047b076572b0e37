"""Does the candidate pin data in the L2 cache beyond the call?

Silent on cache modifiers of single loads and stores.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_ATTRIBUTES = frozenset({"cudaStreamSetAttribute", "cudaGraphKernelNodeSetAttribute"})
_WORDS = (
    "cudaLimitPersistingL2CacheSize",
    "cudaStreamAttributeAccessPolicyWindow",
    "cudaLaunchAttributeAccessPolicyWindow",
)


def find(reading: CudaReading) -> list[Spot]:
    """Where a share of the cache is set aside."""
    lines = {reading.line(node) for word in _WORDS for node in reading.mentions.get(word, ())}
    lines |= {call.line for call in reading.calls if call.name in _ATTRIBUTES}
    return [Spot(line, "part of the L2 cache is set aside for data of earlier calls") for line in sorted(lines)]


RULE = Rule("cache_control", __doc__, "timing", find)
