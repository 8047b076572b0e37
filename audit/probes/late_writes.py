"""Is the result complete when the call returns, for the next reader on the same stream?

A copy is put right behind the call; the bytes of the result must still be the same once the whole device has come to
rest, and once threads that outlive the call had time to write. On the emulated device only such threads can be late;
where kernels of the source ran, nothing late there says nothing about a GPU.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.model.errors import Unsupported
from audit.probes.answer import answer
from audit.probes.battery import at_largest
from audit.probes.called import value_calls
from audit.probes.own_kernels import own_kernels
from audit.probes.target import Target

NAME = "late_writes"
MECHANISMS = ("deferred write", "side stream that nobody waits for", "thread that writes after the timer")


def run(target: Target) -> Finding:
    """Two calls at the largest case, the second with other values."""
    asked = [one for name, one in at_largest(target).items() if name != "held"]
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    late: list[JsonValue] = [one.call.event["late"] for one in asked]
    label = asked[0].case.label
    evidence: dict[str, JsonValue] = {"shape": dict(asked[0].case.shape), "bytes_late": late}
    if any(late):
        text = f"{label}: {max(one.call.event['late'] for one in asked):,} bytes of the result change after the return"
        return answer(NAME, target, "fail", text, evidence=evidence)
    emulated = target.built.tensor_device != "cuda" and not target.is_reference
    if emulated and own_kernels(target.reference.parent / target.variant.file):
        raise Unsupported("streams: a launch ends here before it returns")
    text = f"{label}: the result is complete at the return, in {len(asked)} calls"
    return answer(NAME, target, "pass", text, evidence=evidence)
