"""Does the claim keep to the stream it is called on: does it wait for its inputs, is its result there in time?

The inputs are still being written when the call starts, and the result is read right after it on the same stream.
A stale result on the default stream, as from a side stream without a wait, is proved; the verdict is then `mistimed` if
the result is right once the device is idle. A result that is stale only on a stream of the caller, as after a launch on
the legacy default stream, is a hint: it works as long as no caller uses one.
"""

from __future__ import annotations

from audit.model.errors import Unsupported
from audit.probes.answer import Answer, Observed, failed, label, passed
from audit.probes.battery import at_middle, premise
from audit.probes.called import Mode
from audit.probes.compare import sentence
from audit.probes.target import Target
from audit.probes.variations import wanted

NAME = "current_stream"
DEFAULT, OWN = "the default stream", "a stream of its own"


def observe(target: Target) -> Observed:
    """Make two calls at the middle case with other values than the buffers hold, queued after a sleeping kernel."""
    if target.built.tensor_device != "cuda":
        raise Unsupported("streams: a launch ends here before the next one starts")
    first, varied = at_middle(target)["first"], wanted(target).middle
    if (skipped := premise(target, first)) is not None:
        return skipped
    other = varied.of("other")[0].case
    plan = [
        {"run": "claim", "case": 0},
        {"run": "claim", "case": 1, "into": 0, "stream": "default"},
        {"run": "claim", "case": 1, "into": 0, "stream": "other"},
    ]
    _, *calls = target.steps(plan, cases=[varied.case, other], mode=Mode())
    found = [{"stream": name, **target.compared(call, other).evidence()}
            for name, call in zip((DEFAULT, OWN), calls, strict=True)]  # fmt: skip
    return {"shape": dict(other.shape), "streams": found}


def conclude(seen: Observed) -> Answer:
    """Fail by the first stream on which the result is stale."""
    shape, wrong = label(seen["shape"]), next((one for one in seen["streams"] if not one["right"]), None)
    if wrong is None:
        return passed(f"{shape}: right on two streams")
    text = f"{shape}: called on {wrong['stream']} while its inputs are still written: {sentence(wrong)}"
    return failed(text, "proved" if wrong["stream"] == DEFAULT else "hint")
