"""Rules that the names of calls decide alone: a row of the table is a rule with its question, pattern and message.

A pattern is matched against "scope::name" of a function and ".name" of a method; its group is shown.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import Call, CudaReading
from audit.review.rule import Rule, Spot, Standing

_NONE = "(?!)"
_LONGEST = 200  # characters of a scope and of a name that are compared


def _rule(  # noqa: PLR0913, PLR0917  # a row of the table
    name: str,
    doc: str,
    confirm_with: str,
    message: str,
    calls: str,
    types: str = _NONE,
    unless: str = _NONE,
    standing: Standing = "hint",
) -> Rule[CudaReading]:
    """Return a rule that points at such calls and at variables of such types, but for those in the `main` of a program.

    It is silent in a file with a call of `unless`.
    """

    stop, given, kept = (re.compile(pattern) for pattern in (unless, calls, types))

    def find(reading: CudaReading) -> list[Spot]:
        program = reading.source.by_name.get("main", ())
        called = (call for call in reading.calls if not any(main.holds(call.node) for main in program))
        named = [(call.line, _full_name(call)) for call in called]
        if any(stop.fullmatch(full) for _, full in named):
            return []
        kinds = {each.line: each.type_text for each in reading.variables}
        declared = {line: kind for line, kind in kinds.items() if kept.fullmatch(kind)}
        matches = [(line, match) for line, full in named if (match := given.fullmatch(full))]
        shown = [(line, match[match.lastindex or 0]) for line, match in matches]
        found = [*declared.items(), *((line, what) for line, what in shown if line not in declared)]
        return [Spot(line, f"{what}{message}") for line, what in found]

    return Rule(name, doc, confirm_with, find, standing)


def _full_name(call: Call) -> str:
    scope = call.scope[-_LONGEST:]
    return f"{'.' if call.receiver is not None else ''}{scope}{'::' if scope else ''}{call.name[-_LONGEST:]}"


graph_replay = _rule(
    "graph_replay",
    "Is work recorded once and replayed?\n\nSilent on code that only asks whether a capture is going on.",
    "fresh_values",
    ": a replayed graph reads the addresses it was recorded with",
    r"(?:.*\W)?(cudaGraphLaunch|cudaGraphInstantiate|cudaStreamBeginCapture|capture_begin|replay)",
    standing="advice",
)
threads = _rule(
    "threads",
    "Does the candidate start a thread or a process, or have the driver call back?\n\n"
    "Silent where the file joins what it starts, on locks, atomics and `std::call_once`.",
    "threads",
    " runs something beside the call",
    r"\.?((?:.*::)?(?:pthread_create|v?fork|popen|execv[ep]?|execlp?|posix_spawn|cudaLaunchHostFunc"
    r"|cudaStreamAddCallback)|std::async|at::launch|at::intraop_launch|(?:std::)?(?:system|j?thread))",
    types=r"(?:std::)?j?thread",
    unless=r"\.(?:.*::)?join",
)
self_timing = _rule(
    "self_timing",
    "Does the candidate measure time itself?\n\n"
    "Silent on events that only order streams, on device clocks used for nothing but waiting, and in `main`.",
    "first_call",
    " measures time inside the candidate",
    r"(?:.*\W)?(cudaEventElapsedTime|elapsed_time|clock_gettime|gettimeofday)|.*chrono.*::(now)",
)
process_state = _rule(
    "process_state",
    "Does the candidate look at, or reach into, the process that judges it?\n\n"
    "Silent on properties of the device and on settings read through the library.",
    "untouched_process",
    " reaches into the process around the candidate",
    r"(?:.*\W)?(setenv|putenv|dlopen|dlv?sym|ptrace|mprotect|process_vm_(?:read|write)v"
    r"|PyRun_(?:Simple)?String|PyImport_ImportModule|PyEval_Get(?:Frame|Builtins)|PyThreadState_Get)"
    r"|(?:py::module_?|pybind11::module_)::(import)|(?:py|pybind11)::(exec|eval|globals|eval_file)",
)
environment_read = _rule(
    "environment_read",
    "Does a variable of the environment decide what runs?\n\nSilent on settings read through the library.",
    "untouched_process",
    " reads a variable of the environment",
    r"(?:.*\W)?((?:secure_)?getenv)",
    standing="advice",
)
file_access = _rule(
    "file_access",
    "Does the candidate read or write files?\n\nSilent on printing.",
    "fresh_values",
    " opens a file, which can hold a result from call to call",
    r"(?:std::)?(f?open|freopen|openat|mmap|shm_open|creat|tmpfile|mkstemp)"
    r"|(?:torch|at)::(save|load|pickle_save|pickle_load)",
    types=r"(?:std::)?[io]?fstream",
)
