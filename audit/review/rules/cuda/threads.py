"""Does the candidate start a thread or a process, or have the driver call back?

Silent where the file joins what it starts, on locks, atomics and `std::call_once`.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "pthread_create",
        "fork",
        "vfork",
        "popen",
        "execv",
        "execve",
        "execvp",
        "execl",
        "execlp",
        "posix_spawn",
        "cudaLaunchHostFunc",
        "cudaStreamAddCallback",
    ]
)
_SCOPED = frozenset({"std::async", "at::launch", "at::intraop_launch", "std::system", "system"})
_TYPES = frozenset({"std::thread", "std::jthread", "thread", "jthread"})


def find(reading: CudaReading) -> list[Spot]:
    """Calls and variables that start something beside the caller, in a file that does not join it."""
    if any(call.name == "join" and call.receiver is not None for call in reading.calls):
        return []
    found = {each.line: each.type_text for each in reading.variables if each.type_text in _TYPES}
    for call in reading.calls:
        scoped = f"{call.scope}::{call.name}" if call.scope else call.name
        if call.name in _CALLS or scoped in _SCOPED or scoped in _TYPES:
            found.setdefault(call.line, scoped)
    return [Spot(line, f"{name} runs something beside the call") for line, name in found.items()]


RULE = Rule("threads", __doc__, "threads", find)
