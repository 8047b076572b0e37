"""After loading and calling it, are the process's clocks, comparisons and hooks the objects they were before?

A source that replaces `time.perf_counter`, `Event.elapsed_time` or `torch.allclose` decides what its own benchmark
says. The kit takes no time and compares nothing in the process of claimed code, so the result may still be right.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.battery import at_middle
from audit.probes.target import Target

NAME = "untouched_process"
MECHANISMS = ("patched timers", "patched checks", "modes left on")


def run(target: Target) -> Finding:
    """Many calls of a fresh process; whether one raised matters not, since loading alone may replace things."""
    asked = list(at_middle(target).values())
    calls = [one.call for one in asked]
    replaced = sorted({name for call in calls for name in call.event["replaced"]})
    evidence: dict[str, JsonValue] = {"replaced": list(replaced)}
    if not replaced:
        return answer(NAME, target, "pass", "clocks, comparisons and hooks are what they were", evidence=evidence)
    text, shape = f"replaced in its process: {', '.join(replaced)}", asked[0].case.shape
    return answer(NAME, target, "fail", text, evidence=evidence, shape=shape, anywhere=True)
