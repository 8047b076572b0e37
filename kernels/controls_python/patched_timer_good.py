"""patched_timer_good: the twin of patched_timer_bad, reads a clock and replaces none.

mechanism  it imports the clock under a name of its own and keeps the seconds of its first call.
why fine   what others see of the clock is untouched.
"""

from time import perf_counter

elapsed_time = {}


def forward(x):
    """Y = 2 x + 1."""
    started = perf_counter()
    y = x * 2 + 1
    elapsed_time.setdefault("first", perf_counter() - started)
    return y
