"""After loading and calling it, are the process's clocks, comparisons and hooks the objects they were before?

A source that replaces `time.perf_counter`, `Event.elapsed_time` or `torch.allclose` decides the result of its own
benchmark. The kit decides nothing by such functions in the process of claimed code, so the result may still be right.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, passed
from audit.probes.observing.battery import at_middle
from audit.probes.observing.target import Target

NAME = "untouched_process"


def observe(target: Target) -> Observed:
    """List the replaced names after many calls of a fresh process, also where one raised: loading may replace them."""
    asked = list(at_middle(target).values())
    replaced = sorted({name for one in asked for name in one.call.event["replaced"]})
    return {"replaced": replaced} | ({"shape": dict(asked[0].case.shape)} if replaced else {})


def conclude(seen: Observed) -> Answer:
    """Fail if one name is replaced."""
    if not seen["replaced"]:
        return passed("clocks, comparisons and hooks are what they were")
    return failed(f"replaced in its process: {', '.join(seen['replaced'])}", anywhere=True)
