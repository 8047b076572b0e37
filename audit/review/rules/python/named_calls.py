"""Rules that the names of calls decide alone: a row of the table is a rule with its question, pattern and message.

A pattern is matched against the whole name of a call, imports resolved, or against ".name" of an expression's method.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache

from audit.review.python_reading import PythonReading
from audit.review.python_tree import inside, names_in
from audit.review.rule import Rule, Spot, Standing
from audit.review.rules.python.operators import DRAWS

_FETCHES = r"urllib\.request\.url(?:open|retrieve)|requests\.get|pip\.main"
_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".so", ".cubin", ".ptx")
_TOOLS = ("PATH", "LD_LIBRARY_PATH", "CUDA_", "CXX", "CC", "MAX_JOBS", "NVCC", "TORCH_", "TRITON_", "HOME", "TMPDIR")
_LONGEST_PATH = 200
_JOINS = frozenset({"wait_stream", "wait_event", "synchronize", "wait"})
_CHOOSES = frozenset({"min", "sorted", "sort", "argmin", "inf", "median"})
_STREAMS = frozenset({"torch.cuda.Stream", "torch.Stream"})
_WAITS = frozenset({"join", "result", "communicate"})


def _rule(  # noqa: PLR0913, PLR0917  # a row of the table
    name: str,
    doc: str,
    confirm_with: str,
    message: str,
    calls: str,
    unless: Callable[[PythonReading, ast.Call], bool] = lambda reading, call: False,  # noqa: ARG005
    standing: Standing = "hint",
) -> Rule[PythonReading]:
    """Return a rule that points at calls of such names, but for those that `unless` lets pass."""
    pattern = re.compile(calls)

    def find(reading: PythonReading) -> list[Spot]:
        named = ((call, name) for call, name in reading.calls() if pattern.fullmatch(name))
        return [Spot(call.lineno, f"{name}{message}") for call, name in named if not unless(reading, call)]

    return Rule(name, doc, confirm_with, find, standing)


def _runs_a_literal(reading: PythonReading, call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and not re.match(_FETCHES, reading.name(call))


def _untimed_event(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether an event is made that takes no time, or the function takes the least of several times."""
    given = [each.value for each in call.keywords if each.arg == "enable_timing"] + call.args[:1]
    timed = any(isinstance(each, ast.Constant) and each.value is True for each in given)
    function = reading.function(call)
    chooses = function is not None and bool(_CHOOSES & {*names_in(function), *reading.attributes(function)})
    return chooses or (reading.name(call) == "torch.cuda.Event" and not timed)


def _waited_for(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether the function that starts it also waits for it."""
    return bool(reading.attributes(reading.function(call)) & _WAITS)


def _stream_joined(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether the function that enters a stream waits for one, or the file makes none."""
    return not _makes_streams(reading) or bool(reading.attributes(reading.function(call) or reading.tree) & _JOINS)


@lru_cache(maxsize=1)
def _makes_streams(reading: PythonReading) -> bool:
    return any(name in _STREAMS for _, name in reading.calls())


def _without_a_draw(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether the caller gives the seed, a constructor sets it, or nothing is drawn beside it."""
    function = reading.function(call)
    given = {each.arg for each in inside(function.args, ast.arg)} if function else set()
    if function is not None and (function.name == "__init__" or any(given & names_in(each) for each in call.args)):
        return True
    return not _draws(reading, function or reading.tree)


def _names_a_tool(reading: PythonReading, call: ast.Call) -> bool:  # noqa: ARG001
    """Return whether the variable is one that compilers and loaders look at."""
    name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    return isinstance(name, str) and name.startswith(_TOOLS)


def _of_a_source(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether a path in the function that opens the file, or in the call, ends like that of a build."""
    return any(text.endswith(_SOURCES) for text in _texts(reading.function(call) or call))


@lru_cache(maxsize=64)
def _texts(node: ast.AST) -> tuple[str, ...]:
    found = (each.value for each in inside(node, ast.Constant))
    return tuple(text for text in found if isinstance(text, str) and len(text) <= _LONGEST_PATH)


@lru_cache(maxsize=64)
def _draws(reading: PythonReading, node: ast.AST) -> bool:
    """Return whether something within a node draws random numbers."""
    return any(DRAWS.fullmatch(reading.name(each)) for each in inside(node, ast.Call))


cuda_graph = _rule(
    "cuda_graph",
    "Is work recorded once and replayed?\n\nSilent on asking whether a capture is going on.",
    "fresh_values",
    ": a replayed graph reads the addresses it was recorded with",
    r"torch\.cuda\.(?:CUDAGraph|graph|make_graphed_callables)|.*\.replay",
    standing="advice",
)
environment_variable = _rule(
    "environment_variable",
    "Does a variable of the environment decide what runs?\n\n"
    "Silent on setting one, and on reading those of compilers and of Triton.",
    "agreement",
    " reads a variable of the environment",
    r"os\.getenv|os\.environ\.get",
    unless=_names_a_tool,
    standing="advice",
)
file_cache = _rule(
    "file_cache",
    "Does the candidate read or write files?\n\n"
    "Silent in functions that name a C++ or CUDA source or what is built from one, and on paths alone.",
    "fresh_values",
    " opens a file, which can hold a result from call to call",
    r"(?:(?:builtins|io|os|shelve)\.)?open|(?:torch|numpy)\.(?:save|load)|(?:pickle|joblib)\.(?:dump|load)"
    r"|mmap\.mmap|sqlite3\.connect|multiprocessing\.shared_memory\.SharedMemory|.*\.(?:read|write)_(?:bytes|text)",
    unless=_of_a_source,
)
seed_replay = _rule(
    "seed_replay",
    "Are inputs made again from a seed?\n\n"
    "Silent on dropout's own generator, on a seed that the caller gives, on initialising parameters, and in functions "
    "that make inputs for a test.",
    "agreement",
    " and a draw beside it make the same numbers again",
    r".*\.manual_seed|torch\.cuda\.manual_seed_all",
    unless=_without_a_draw,
)
torch_stream = _rule(
    "torch_stream",
    "Is work sent to a stream of its own that nothing in the function waits for?\n\n"
    "Silent where the function waits for a stream or an event, or synchronises, and on streams that the file is given.",
    "current_stream",
    " sends work to a stream that nothing here waits for",
    r"torch\.cuda\.(?:stream|set_stream|StreamContext)",
    unless=_stream_joined,
)
child_process = _rule(
    "child_process",
    "Does the candidate start a thread or a process?\n\n"
    "Silent on imports alone, on locks, and where the same function waits for what it starts.",
    "threads",
    " runs something beside the call",
    r"threading\.(?:Thread|Timer)|_thread\.start_new_thread|os\.(?:fork|system|popen|posix_spawn)"
    r"|concurrent\.futures\.(?:Thread|Process)PoolExecutor|asyncio\.create_subprocess_(?:exec|shell)"
    r"|(?:subprocess|(?:torch\.)?multiprocessing)\.(?!.*(?:cpu_count|Lock)$).*",
    unless=_waited_for,
)
own_timing = _rule(
    "own_timing",
    "Does the candidate measure time itself?\n\n"
    'Silent under `if __name__ == "__main__"`, in functions that test or benchmark, on `triton.autotune`, '
    "and where a function takes the least of several times.",
    "first_call",
    " measures time inside the candidate",
    r"time\.(?:time|perf_counter(?:_ns)?|monotonic|process_time)|timeit\.(?:timeit|Timer)|torch\.cuda\.Event"
    r"|triton\.testing\.do_bench(?:_cudagraph)?|torch\.utils\.benchmark\.Timer|.*\.elapsed_time",
    unless=_untimed_event,
)
heap_scan = _rule(
    "heap_scan",
    "Does the candidate search the process for objects that it was not given?\n\nSilent on collecting garbage.",
    "agreement",
    " reaches objects that the caller did not pass in",
    r"gc\.get_(?:objects|referrers|referents)|ctypes\.(?:string_at|memmove|cast)"
    r"|torch\.cuda\.(?:memory_snapshot|memory\._snapshot)|.*\.from_address",
)
dynamic_code = _rule(
    "dynamic_code",
    "Is code run that the file does not show?\n\n"
    "Silent on literals, on the library's own compilers and on imports by name.",
    "untouched_process",
    " runs or fetches code that the file does not show",
    r"exec|eval|compile|__import__|importlib\.reload|marshal\.loads|runpy\.run_(?:path|module)|" + _FETCHES,
    unless=_runs_a_literal,
)
