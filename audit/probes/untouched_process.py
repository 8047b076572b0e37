"""After loading and calling it, are the process's clocks, comparisons and hooks the objects they were before?

A source that replaces `time.perf_counter`, `Event.elapsed_time` or `torch.allclose` decides what its own benchmark
says. The kit takes no time and compares nothing in the process of claimed code, so the result may still be right.
"""

from __future__ import annotations

from audit.probes.answer import Answer, Seen, failed, passed
from audit.probes.battery import at_middle
from audit.probes.target import Target

NAME = "untouched_process"
MECHANISMS = ("patched timers", "patched checks", "modes left on")


def observe(target: Target) -> Seen:
    """Many calls of a fresh process; whether one raised matters not, since loading alone may replace things."""
    asked = list(at_middle(target).values())
    replaced = sorted({name for one in asked for name in one.call.event["replaced"]})
    return {"replaced": replaced} | ({"shape": dict(asked[0].case.shape)} if replaced else {})


def conclude(seen: Seen) -> Answer:
    """Any of them is one too many."""
    if not seen["replaced"]:
        return passed("clocks, comparisons and hooks are what they were")
    return failed(f"replaced in its process: {', '.join(seen['replaced'])}", anywhere=True)
