"""Is work recorded once and replayed?

Silent on asking whether a capture is going on.
"""

from __future__ import annotations

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset({"torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables"})


def find(reading: PythonReading) -> list[Spot]:
    """Where a graph is made or replayed."""
    used = [(call, name) for call, name in reading.calls() if name in _CALLS or name.endswith(".replay")]
    return [
        Spot(call.lineno, f"{name}: a replayed graph reads the addresses it was recorded with") for call, name in used
    ]


RULE = Rule("cuda_graph", __doc__, "fresh_values", find)
