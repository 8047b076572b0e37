"""Does the output hold what a freed block of its size held before?

A computed element that is wrong may equal it by chance, since one byte has few values: an element with the bits of an
earlier call in other memory does not count, and as many of the others as random bytes may give fail nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.probes import order
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.observing.called import Call, value_calls
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.run.messages.requests import PLANTED_BYTES

NAME = "inherited"
UNLIKELY = 1e-3
"""The probability below which chance does not explain the equal elements."""
Words = npt.NDArray[Any]


def observe(target: Target) -> Observed:
    """Free a block of random values, call the claim, and count the wrong elements that equal them bit for bit; then
    again with the claim's own result, a few elements of it overwritten with random values."""
    case = target.largest
    first, _, planted, call, spoiled, last = order.claim_first_session(target)
    value_calls([first, planted, call], [case.expected] * 3)
    (same, by_chance), own = _inherited(target, case, planted, call, first), False
    if not same and spoiled.raised is None and last.raised is None:
        same, by_chance = _inherited(target, case, spoiled, last, call)
        own = bool(same)
    elements = case.expected.size
    return {
        "shape": dict(case.shape),
        "elements": elements,
        "elements_inherited": same,
        "share": round(same / elements, 6),
        **({"by_chance": by_chance} if same else {}),
        **({"own_result": True} if own else {}),
    }


def _inherited(target: Target, case: Case, held: Call, call: Call, earlier: Call) -> tuple[int, float]:
    """Return `equal_to` of the wrong elements of a call. A right element may equal the block's by chance."""
    before, after = held.words(), call.words()
    if before.shape != after.shape or target.compared(call, case).right:
        return 0, 0.0
    wrong = (call.values() != case.expected.reshape(call.values().shape)).reshape(-1)
    return equal_to(before, after, earlier.words(), wrong)


def equal_to(before: Words, after: Words, earlier: Words, wrong: npt.NDArray[np.bool_]) -> tuple[int, float]:
    """Return the number of wrong elements with the bits of a block, and the number that random bytes give by chance.
    An element that has its bits in an earlier call too was computed.

    Args:
        before: the block, by element, as `Call.words`.
        after: the result in that block.
        earlier: the result of an earlier call in other memory.
        wrong: whether an element of `after` is wrong.
    """
    anew = wrong if earlier.shape != after.shape else wrong & ~_each(after == earlier)
    same = int(np.count_nonzero(_each(before == after) & anew))
    if not same:
        return 0, 0.0
    found = np.ascontiguousarray(after[anew])
    rows = found.view(np.uint8).reshape(len(found), -1)
    first, end = PLANTED_BYTES
    possible = int(np.count_nonzero(((rows >= first) & (rows < end)).all(axis=1)))
    return same, possible / (end - first) ** rows.shape[1]


def conclude(seen: Observed) -> Answer:
    """Fail if there is one such element, and chance does not explain it."""
    same, elements = seen["elements_inherited"], seen["elements"]
    text = f"{label(seen['shape'])}: {same:,} of {elements:,} elements are what a freed block held"
    text += ", a result of its own with a few other values" if seen.get("own_result") else ""
    if same and _likely(same, seen.get("by_chance", 0.0)):
        return passed(f"{text}, which random values explain")
    return failed(text) if same else passed(text)


def _likely(count: int, expected: float) -> bool:
    """Return whether chance may give that count where it gives `expected` on average, by Chernoff's bound."""
    if count <= expected:
        return True
    return expected > 0 and math.exp(count - expected + count * math.log(expected / count)) > UNLIKELY


def _each(equal: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return one truth value an element, from one or several words an element."""
    return np.asarray(equal.all(axis=1)) if equal.ndim > 1 else equal
