"""Does the candidate search the process for objects that it was not given?

Silent on collecting garbage.
"""

from __future__ import annotations

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "gc.get_objects",
        "gc.get_referrers",
        "gc.get_referents",
        "ctypes.string_at",
        "ctypes.memmove",
        "ctypes.cast",
        "torch.cuda.memory_snapshot",
        "torch.cuda.memory._snapshot",
    ]
)


def find(reading: PythonReading) -> list[Spot]:
    """Calls that list objects or read raw memory."""
    used = [(call, name) for call, name in reading.calls() if name in _CALLS or name.endswith(".from_address")]
    return [Spot(call.lineno, f"{name} reaches objects that the caller did not pass in") for call, name in used]


RULE = Rule("heap_scan", __doc__, "agreement", find)
