"""Does the claim keep to the stream it is called on: does it wait for its inputs, is its result there in time?

The inputs are still being written when the call starts, and the result is read right behind it on the same stream.
Stale on the default stream, as with a side stream without a wait, is proved; the verdict is then `mistimed` if
the result is right once the device has come to rest. Stale only on a stream of the caller's own, as with every plain
launch to the legacy default stream, is a hint: it works as long as no caller uses one.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.model.errors import Unsupported
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_middle, premise
from audit.probes.called import Mode
from audit.probes.target import Target
from audit.probes.variations import wanted

NAME = "current_stream"
MECHANISMS = ("side stream", "legacy default stream", "stale input of a graph")


def run(target: Target) -> Finding:
    """Two calls at the middle case with other values than the buffers hold, behind a sleeping kernel."""
    if target.built.tensor_device != "cuda":
        raise Unsupported("streams: a launch ends here before the next one starts")
    first, varied = at_middle(target)["first"], wanted(target).middle
    if (skipped := premise(NAME, target, first)) is not None:
        return skipped
    other = varied.of("other")[0].case
    plan = [
        {"run": "claim", "case": 0},
        {"run": "claim", "case": 1, "into": 0, "stream": "default"},
        {"run": "claim", "case": 1, "into": 0, "stream": "other"},
    ]
    _, default, own = target.steps(plan, cases=[varied.case, other], mode=Mode())
    asked = {"the default stream": Asked("default", other, default), "a stream of its own": Asked("own", other, own)}
    results = {name: one.compared(target) for name, one in asked.items()}
    evidence: dict[str, JsonValue] = {
        "shape": dict(other.shape),
        "streams": [{"stream": name, **comparison.evidence()} for name, comparison in results.items()],
    }
    for name, comparison in results.items():
        if not comparison.right:
            text = f"{other.label}: called on {name} while its inputs are still written: {comparison.sentence()}"
            grade: Grade = "proved" if name == "the default stream" else "hint"
            return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)
    return answer(NAME, target, "pass", f"{other.label}: right on two streams", evidence=evidence)
