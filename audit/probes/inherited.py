"""Does the output hold what a freed block of its size held before?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.probes import order
from audit.probes.answer import Answer, Seen, failed, label, passed
from audit.probes.called import Call, value_calls
from audit.probes.cases import Case
from audit.probes.target import Target

NAME = "inherited"
MECHANISMS = ("stale memory", "no-op kernel")


def observe(target: Target) -> Seen:
    """Free a block of random values, call the claim, and count the wrong elements that equal them bit for bit; then
    again with the claim's own result, random values in a few elements of it."""
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
    """Wrong elements that are what the block held, but for those of another call: what is wrong in each call was
    computed. A right element may be what the block held by chance: of one byte there are few values."""
    before, after = held.words(), call.words()
    if before.shape != after.shape or target.compared(call, case).right:
        return 0
    equal = _each(before == after)
    if but is not None:
        equal &= ~_each(before == but.words())
    wrong = (call.values() != case.expected.reshape(call.values().shape)).reshape(-1)
    return int(np.count_nonzero(equal & wrong))


def conclude(seen: Seen) -> Answer:
    """One such element is enough."""
    same, elements = seen["elements_inherited"], seen["elements"]
    text = f"{label(seen['shape'])}: {same:,} of {elements:,} elements are what a freed block held"
    text += ", a result of its own with a few other values" if seen.get("own_result") else ""
    return failed(text) if same else passed(text)


def _each(equal: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return one truth an element, of words several to an element or one."""
    return np.asarray(equal.all(axis=1)) if equal.ndim > 1 else equal
