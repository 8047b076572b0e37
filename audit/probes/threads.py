"""Does a call leave threads or child processes behind?

A hint: libraries keep pools of threads, started by their first call. Work of a thread after the call escapes a timer;
`late_writes` tests whether it writes the result.
"""

from __future__ import annotations

from audit.probes.concluding.answer import Answer, Observed, failed, passed
from audit.probes.observing.battery import HELD, at_largest
from audit.probes.observing.called import value_calls
from audit.probes.observing.target import Target

NAME = "threads"


def observe(target: Target) -> Observed:
    """Count the threads and children that exist after a call and not before it, in two calls."""
    asked = [one for name, one in at_largest(target).items() if name != HELD]
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    threads = [int(one.call.event["threads"]) for one in asked]
    children = [int(one.call.event["children"]) for one in asked]
    seen: Observed = {"threads_left": threads, "children_left": children, "on": target.built.tensor_device}
    return seen | ({"shape": dict(asked[0].case.shape)} if any((*threads, *children)) else {})


def conclude(seen: Observed) -> Answer:
    """Fail by children first, then by threads of a later call, then by those of the first."""
    threads, children = seen["threads_left"], seen["children_left"]
    if any(children):
        return failed(f"a call leaves {max(children)} child process running", "hint", anywhere=True)
    if any(threads[1:]):
        return failed(f"every call leaves {threads[-1]} thread running", "hint", anywhere=True)
    if threads[0] and seen["on"] == "cpu":  # CUDA and its libraries start threads of their own
        return failed(f"the first call leaves {threads[0]} thread running", "hint", anywhere=True)
    return passed("no thread and no child process is left by a call")
