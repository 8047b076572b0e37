"""Does the claim keep to the stream it is called on: does it wait for its inputs, is its result there in time?

The inputs are still being written when the call starts, and the result is read right after it on the same stream.
A stale result on the default stream, as from a side stream without a wait, is proved; the verdict is then `mistimed` if
the result is right once the device is idle. A result that is stale only on a stream of the caller, as after a launch on
the legacy default stream, is a hint: it works as long as no caller uses one. A result of another shape than the right
one is stale too. Work on another stream may end in time by chance: the largest size is asked too, where it takes
longer, and torch's other streams are busy while the default one is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from audit.model import Shape
from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.compare import sentence
from audit.probes.observing.battery import at_largest, at_middle, premise
from audit.probes.observing.called import Call, Mode, SessionBroken, alike, value_calls
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import MOST_BYTES, OTHER

NAME = "current_stream"
DEFAULT, OWN = "the default stream", "a stream of its own"
STREAMS = {DEFAULT: "default", OWN: "other"}
Pair = tuple[Case, Case]
"""The contents of the buffers, and the other values that are written into them."""


def observe(target: Target) -> Observed:
    """Make two calls at the middle case, and two at the largest where it is another one of at most MOST_BYTES, with
    other values than the buffers hold, queued after a sleeping kernel; all of them in one session."""
    if target.built.tensor_device != "cuda":
        raise Unsupported("streams: a launch ends here before the next one starts")
    middle = at_middle(target)
    if (skipped := premise(target, middle["first"])) is not None:
        return skipped
    value_calls([middle[OTHER].call], [middle[OTHER].case.expected])
    asked = [(middle["first"].case, middle[OTHER].case), *_largest(target, middle["first"])]
    cases = [case for pair in asked for case in pair]
    plan = [{"run": "claim", "case": 2 * of + 1, "into": 2 * of, "stream": STREAMS[name]} for of, name in _order(asked)]
    _, *calls = target.steps([{"run": "claim", "case": 0}, *plan], cases=cases, mode=Mode())
    found = [
        {**({"shape": dict(asked[of][1].shape)} if of else {}), "stream": name, **_compared(target, call, asked[of][1])}
        for (of, name), call in zip(_order(asked), calls, strict=True)
    ]
    return {"shape": dict(asked[0][1].shape), "streams": found}


def _order(asked: list[Pair]) -> Iterator[tuple[int, str]]:
    return ((of, name) for of in range(len(asked)) for name in STREAMS)


def _largest(target: Target, middle: Asked) -> Iterator[Pair]:
    """Yield the two contents of the largest case, where plain calls are right at both."""
    with suppress(SessionBroken):
        first, other = (at_largest(target).get(name) for name in ("first", OTHER))
        if first is None or other is None or first.case.inputs == middle.case.inputs:
            return
        if first.case.bytes <= MOST_BYTES and all(one.compared(target).right for one in (first, other)):
            yield first.case, other.case


def _compared(target: Target, call: Call, case: Case) -> Observed:
    """Return the comparison, or both shapes of a result of another shape: where that depends on the values, stale ones
    give another, and plain calls have given the right one."""
    returned = call.event.get("shape")
    if call.raised is not None or returned is None or alike(returned, case.expected.shape):
        return target.compared(call, case).evidence()
    return {"right": False, "returned": list(returned), "due": list(case.expected.shape)}


def conclude(seen: Observed) -> Answer:
    """Fail by the default stream first, then by the first call whose result is stale."""
    stale = sorted((one for one in seen["streams"] if not one["right"]), key=lambda one: one["stream"] != DEFAULT)
    if not stale:
        more = "".join(f"; so too at {label(shape)}" for shape in _more_shapes(seen))
        return passed(f"{label(seen['shape'])}: right on two streams{more}")
    wrong, shape = stale[0], stale[0].get("shape", seen["shape"])
    told = (
        f"a result of shape {wrong['returned']}, where {wrong['due']} is right"
        if "returned" in wrong
        else sentence(wrong)
    )
    text = f"{label(shape)}: called on {wrong['stream']} while its inputs are still written: {told}"
    return failed(text, "proved" if wrong["stream"] == DEFAULT else "hint", shape=shape)


def _more_shapes(seen: Observed) -> list[Shape]:
    return [one["shape"] for one in seen["streams"] if "shape" in one and one["stream"] == DEFAULT]
