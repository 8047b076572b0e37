"""patched_timer_honest: the twin of patched_timer_rogue, reads a clock and replaces none.

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
