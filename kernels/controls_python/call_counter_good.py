"""call_counter_good: the twin of call_counter_bad, counts its calls and works in each.

mechanism  a module-level counter decides how often a line of statistics would be due.
why fine   the result never depends on the count.
"""

EVERY = 100
_seen = {"calls": 0, "due": 0}


def forward(x):
    """Y = 2 x + 1."""
    _seen["calls"] += 1
    if _seen["calls"] % EVERY == 0:
        _seen["due"] += 1
    return x * 2 + 1
