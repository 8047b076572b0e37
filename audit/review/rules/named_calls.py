"""Rules that the names of calls decide alone: a row of `named_calls.toml` is a rule."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from audit.review.cuda_reading import Call, CudaReading
from audit.review.python_reading import PythonReading
from audit.review.python_tree import inside, names_in
from audit.review.rule import Reading, Rule, Spot
from audit.review.rules.python.operators import DRAWS

_LONGEST = 200
"""Characters of a scope and of a name that are compared."""
_NONE = "(?!)"
_FETCHES = r"urllib\.request\.url(?:open|retrieve)|requests\.get|pip\.main"
_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".so", ".cubin", ".ptx")
_TOOLS = ("PATH", "LD_LIBRARY_PATH", "CUDA_", "CXX", "CC", "MAX_JOBS", "NVCC", "TORCH_", "TRITON_", "HOME", "TMPDIR")
_LONGEST_PATH = 200
_JOINS = frozenset({"wait_stream", "wait_event", "synchronize", "wait"})
_CHOOSES = frozenset({"min", "sorted", "sort", "argmin", "inf", "median"})
_STREAMS = frozenset({"torch.cuda.Stream", "torch.Stream"})
_WAITS = frozenset({"join", "result", "communicate"})


def _rule(name: str, row: Mapping[str, str], find: Callable[[Reading], list[Spot]]) -> Rule[Reading]:
    doc = f"{row['asks']}\n\n{row['silent']}"
    return Rule(name, doc, row["confirm_with"], find, "advice" if row.get("standing") == "advice" else "hint")


def _pattern(row: Mapping[str, str], key: str) -> re.Pattern[str]:
    return re.compile("".join(row.get(key, _NONE).split()))


def _of_cuda(name: str, row: Mapping[str, str]) -> Rule[CudaReading]:
    """Return a rule that points at such calls and at variables of such types, but for those in the `main` of a program.

    It is silent in a file with a call of `unless`.
    """
    stop, given, kept = (_pattern(row, key) for key in ("unless", "calls", "types"))

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
        return [Spot(line, f"{what}{row['message']}") for line, what in found]

    return _rule(name, row, find)


def _full_name(call: Call) -> str:
    scope = call.scope[-_LONGEST:]
    return f"{'.' if call.receiver is not None else ''}{scope}{'::' if scope else ''}{call.name[-_LONGEST:]}"


def _of_python(name: str, row: Mapping[str, str]) -> Rule[PythonReading]:
    """Return a rule that points at calls of such names, but for those that its function of `UNLESS` lets pass."""
    pattern, unless = _pattern(row, "calls"), UNLESS.get(name)

    def find(reading: PythonReading) -> list[Spot]:
        named = ((call, full) for call, full in reading.calls() if pattern.fullmatch(full))
        left = ((call, full) for call, full in named if unless is None or not unless(reading, call))
        return [Spot(call.lineno, f"{full}{row['message']}") for call, full in left]

    return _rule(name, row, find)


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


UNLESS: dict[str, Callable[[PythonReading, ast.Call], bool]] = {
    "environment_variable": _names_a_tool,
    "file_cache": _of_a_source,
    "seed_replay": _without_a_draw,
    "torch_stream": _stream_joined,
    "child_process": _waited_for,
    "own_timing": _untimed_event,
    "dynamic_code": _runs_a_literal,
}
"""Calls that a rule over Python is silent on."""
_ROWS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CUDA = {name: _of_cuda(name, row) for name, row in _ROWS["cuda"].items()}
PYTHON = {name: _of_python(name, row) for name, row in _ROWS["python"].items()}
