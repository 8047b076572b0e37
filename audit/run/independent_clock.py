"""Runs in a child: calls between two messages, so that the parent sees by its own clock how long they took.

No clock of this process takes part: the parent stamps both messages as they come. Whoever makes a short time of a long
call has to make the calls between the messages short too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from audit.run.callables import Indexed
from audit.run.stopwatch import synchronize

SPAN_MS = 20.0
FEWEST, MOST = 3, 200


def told(name: str, call: Indexed, *, each_ms: float) -> Iterator[dict[str, Any]]:
    """Two events about a callable, `at` begin and `at` end, around as many `calls` as take about 20 ms, 200 at most.

    Args:
        name: of the callable.
        call: what is called, over the first set of inputs, one call right behind the other.
        each_ms: how long a call takes by this process's clocks.
    """
    count = max(FEWEST, min(MOST, math.ceil(SPAN_MS / max(each_ms, 1e-6))))
    call(0)
    synchronize()
    yield {"witness": name, "at": "begin", "calls": count}
    for _ in range(count):
        call(0)
    synchronize()
    yield {"witness": name, "at": "end", "calls": count}
