"""Does the output hold what a freed block of its size held before?"""

from __future__ import annotations

import numpy as np

from audit.probes import order
from audit.probes.answer import Answer, Seen, failed, label, passed
from audit.probes.called import value_calls
from audit.probes.target import Target

NAME = "inherited"
MECHANISMS = ("stale memory", "no-op kernel")


def observe(target: Target) -> Seen:
    """Free a block of random values, call the claim, and count the wrong elements that equal them bit for bit.

    A right element may equal them by chance: of one byte there are few values.
    """
    case = target.largest
    *_, planted, call = order.claim_first_session(target)
    value_calls([planted, call], [case.expected] * 2)
    before, after, elements = planted.words(), call.words(), case.expected.size
    if before.shape != after.shape or target.compared(call, case).right:
        same = 0
    else:
        equal = before == after
        equal = equal.all(axis=1) if equal.ndim > 1 else equal
        same = int(np.count_nonzero(equal & (call.values() != case.expected.reshape(call.values().shape)).reshape(-1)))
    return {
        "shape": dict(case.shape),
        "elements": elements,
        "elements_inherited": same,
        "share": round(same / elements, 6),
    }


def conclude(seen: Seen) -> Answer:
    """One such element is enough."""
    same, elements = seen["elements_inherited"], seen["elements"]
    text = f"{label(seen['shape'])}: {same:,} of {elements:,} elements are what a freed block held"
    return failed(text) if same else passed(text)
