"""Does a call leave threads or child processes behind?

A hint: libraries keep pools of threads, started by their first call. Work that a thread does after the call escapes a
timer; `late_writes` tells whether it writes the result.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.battery import at_largest
from audit.probes.called import value_calls
from audit.probes.target import Target

NAME = "threads"
MECHANISMS = ("threads", "child processes")


def run(target: Target) -> Finding:
    """The threads and children that are there after a call and were not before it, in two calls."""
    asked = [one for name, one in at_largest(target).items() if name != "held"]
    value_calls([one.call for one in asked], [one.case.expected for one in asked])
    threads = [int(one.call.event["threads"]) for one in asked]
    children = [int(one.call.event["children"]) for one in asked]
    evidence: dict[str, JsonValue] = {"threads_left": list(threads), "children_left": list(children)}
    where = asked[0].case.shape
    if any(children):
        text = f"a call leaves {max(children)} child process running"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence, shape=where, anywhere=True)
    if any(threads[1:]):
        text = f"every call leaves {threads[-1]} thread running"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence, shape=where, anywhere=True)
    if threads[0] and target.built.tensor_device == "cpu":  # CUDA and its libraries start threads of their own
        text = f"the first call leaves {threads[0]} thread running"
        return answer(NAME, target, "fail", text, grade="hint", evidence=evidence, shape=where, anywhere=True)
    return answer(NAME, target, "pass", "no thread and no child process is left by a call", evidence=evidence)
