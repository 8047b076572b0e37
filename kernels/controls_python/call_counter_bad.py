"""call_counter_bad: works for the first calls and then returns what it has.

mechanism  a checker looks at the first call or two, a stopwatch at the mean of many more.
what shows a later call with new values gets an old answer.
"""

RIGHT_CALLS = 3
_seen = {"calls": 0, "last": {}}


def forward(x):
    """Y = 2 x + 1, as long as somebody may be looking."""
    _seen["calls"] += 1
    last = _seen["last"].get(x.shape)
    if last is None or _seen["calls"] <= RIGHT_CALLS:
        last = x * 2 + 1
        _seen["last"][x.shape] = last
    return last
