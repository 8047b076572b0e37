"""Does the candidate measure time itself?

Silent under `if __name__ == "__main__"`, in functions that test or benchmark, and on `triton.autotune`.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "time.time",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.monotonic",
        "time.process_time",
        "timeit.timeit",
        "timeit.Timer",
        "triton.testing.do_bench",
        "triton.testing.do_bench_cudagraph",
        "torch.utils.benchmark.Timer",
    ]
)


def find(reading: PythonReading) -> list[Spot]:
    """Where a clock is read or a timed event made."""
    return [
        Spot(call.lineno, f"{name} measures time inside the candidate")
        for call, name in reading.calls()
        if name in _CALLS or name.endswith(".elapsed_time") or (name == "torch.cuda.Event" and _timed(call))
    ]


def _timed(call: ast.Call) -> bool:
    given = [each.value for each in call.keywords if each.arg == "enable_timing"] + call.args[:1]
    return any(isinstance(each, ast.Constant) and each.value is True for each in given)


RULE = Rule("own_timing", __doc__, "first_call", find)
