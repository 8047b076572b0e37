"""Does the candidate start a thread or a process?

Silent on imports alone, on locks, and where the same function waits for what it starts.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "threading.Thread",
        "threading.Timer",
        "_thread.start_new_thread",
        "os.fork",
        "os.system",
        "os.popen",
        "os.posix_spawn",
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor",
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
    ]
)
_HOMES = ("subprocess.", "multiprocessing.", "torch.multiprocessing.")

_HARMLESS = ("cpu_count", "Lock", "RLock")
_JOINS = frozenset({"join", "result", "communicate"})


def find(reading: PythonReading) -> list[Spot]:
    """Calls that run something beside the caller."""
    return [
        Spot(call.lineno, f"{name} runs something beside the call")
        for call, name in reading.calls()
        if (name in _CALLS or (name.startswith(_HOMES) and not name.endswith(_HARMLESS))) and not _joined(reading, call)
    ]


def _joined(reading: PythonReading, call: ast.Call) -> bool:
    """Whether the function that starts it also waits for it."""
    function = reading.function(call)
    attributes = {each.attr for each in ast.walk(function) if isinstance(each, ast.Attribute)} if function else set()
    return bool(attributes & _JOINS)


RULE = Rule("child_process", __doc__, "threads", find)
