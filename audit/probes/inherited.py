"""Does the output hold what a freed block of its size held before?"""

from __future__ import annotations

import numpy as np

from audit.model import Finding
from audit.probes import order
from audit.probes.answer import answer
from audit.probes.called import value_calls
from audit.probes.target import Target

NAME = "inherited"
MECHANISMS = ("stale memory", "no-op kernel")


def run(target: Target) -> Finding:
    """Free a block of random values, call the claim, and count the elements that equal them bit for bit."""
    case = target.largest
    *_, planted, call = order.claim_first_session(target)
    value_calls([planted, call], [case.expected] * 2)
    before, after = planted.words(), call.words()
    equal = before == after if before.shape == after.shape else np.zeros(1, dtype=bool)
    same = int(np.count_nonzero(equal.all(axis=1) if equal.ndim > 1 else equal))
    share = same / case.expected.size
    text = f"{case.label}: {same:,} of {case.expected.size:,} elements are what a freed block held"
    return answer(
        NAME,
        target,
        "fail" if same else "pass",
        text,
        evidence={
            "shape": dict(case.shape),
            "elements": case.expected.size,
            "elements_inherited": same,
            "share": round(share, 6),
        },
    )
