"""Does the output hold what a freed block of its size held before?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.probes import order
from audit.probes.answer import Answer, Observed, failed, label, passed
from audit.probes.called import Call, value_calls
from audit.probes.cases import Case
from audit.probes.target import Target

NAME = "inherited"


def observe(target: Target) -> Observed:
    """Free a block of random values, call the claim, and count the wrong elements that equal them bit for bit; then
    again with the claim's own result, a few elements of it overwritten with random values."""
    case = target.largest
    *_, planted, call, spoiled, last = order.claim_first_session(target)
    value_calls([planted, call], [case.expected] * 2)
    same, own = _inherited(target, case, planted, call), False
    if not same and spoiled.raised is None and last.raised is None:
        same = _inherited(target, case, spoiled, last, but=call)
        own = bool(same)
    elements = case.expected.size
    return {
        "shape": dict(case.shape),
        "elements": elements,
        "elements_inherited": same,
        "share": round(same / elements, 6),
        **({"own_result": True} if own else {}),
    }


def _inherited(target: Target, case: Case, held: Call, call: Call, *, but: Call | None = None) -> int:
    """Count the wrong elements that equal the block's, except those that `but` has too: an element that is wrong in
    each call was computed. A right element may equal the block's by chance: one byte has few values."""
    before, after = held.words(), call.words()
    if before.shape != after.shape or target.compared(call, case).right:
        return 0
    equal = _each(before == after)
    if but is not None:
        equal &= ~_each(before == but.words())
    wrong = (call.values() != case.expected.reshape(call.values().shape)).reshape(-1)
    return int(np.count_nonzero(equal & wrong))


def conclude(seen: Observed) -> Answer:
    """Fail if there is one such element."""
    same, elements = seen["elements_inherited"], seen["elements"]
    text = f"{label(seen['shape'])}: {same:,} of {elements:,} elements are what a freed block held"
    text += ", a result of its own with a few other values" if seen.get("own_result") else ""
    return failed(text) if same else passed(text)


def _each(equal: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return one truth value an element, from one or several words an element."""
    return np.asarray(equal.all(axis=1)) if equal.ndim > 1 else equal
