"""self_timing_bad: brings a stopwatch along and times itself in every call.

mechanism  a number made inside the candidate, over whatever the candidate likes, ends up as the published speedup.
what shows the source reads a clock in what it offers as its kernel; the kit takes no number from there.
"""

import time

log = []


def forward(x):
    """Y = 2 x + 1, and a speedup nobody asked for."""
    started = time.perf_counter()
    y = x * 2 + 1
    own = time.perf_counter() - started
    log.append({"own_s": own, "speedup": 100.0})
    return y
