"""Is the result complete when the call returns, for the next reader on the same stream?

A copy is queued right after the call; the bytes of the result must be the same once the whole device is idle, and once
threads that outlive the call had time to write. On the emulated device only such threads can be late, so where kernels
of the source ran, a pass there would say nothing about a GPU.
"""

from __future__ import annotations

from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.own_kernels import own_kernels
from audit.probes.observing.battery import HELD, at_largest
from audit.probes.observing.called import value_calls
from audit.probes.observing.target import Target

NAME = "late_writes"


def observe(target: Target) -> Observed:
    """Make two calls at the largest case, the second with other values."""
    asked = [one for name, one in at_largest(target).items() if name != HELD]
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    late = [one.call.event["late"] for one in asked]
    emulated = target.built.tensor_device != "cuda" and not target.is_reference
    if not any(late) and emulated and own_kernels(target.reference.parent / target.variant.file):
        raise Unsupported("streams: a launch ends here before it returns")
    return {"shape": dict(asked[0].case.shape), "bytes_late": late}


def conclude(seen: Observed) -> Answer:
    """Fail if one byte changes."""
    shape, late = label(seen["shape"]), seen["bytes_late"]
    if any(late):
        return failed(f"{shape}: {max(late):,} bytes of the result change after the return")
    return passed(f"{shape}: the result is complete at the return, in {len(late)} calls")
