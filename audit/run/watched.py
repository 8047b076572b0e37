"""Runs in a child: is the process still what it was before claimed code came? Clocks, checks, modes and the kit's own
functions, by identity.

`torch.manual_seed` is not among them: torch.compile wraps it itself.
"""

from __future__ import annotations

import builtins
import gc
import statistics
import sys
import time
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import torch
import torch.testing

_OWNERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "time": (
        time,
        ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "sleep"),
    ),
    "statistics": (statistics, ("mean", "median", "stdev", "quantiles")),
    "torch": (torch, ("allclose", "equal", "isclose", "randn", "rand", "is_tensor", "compile")),
    "torch.testing": (torch.testing, ("assert_close", "assert_allclose")),
    "torch.cuda": (torch.cuda, ("synchronize", "Event", "Stream", "current_stream", "is_available", "CUDAGraph")),
    "torch.cuda.Event": (torch.cuda.Event, ("__new__", "record", "elapsed_time", "synchronize", "wait", "query")),
    "torch.cuda.Stream": (torch.cuda.Stream, ("__new__", "synchronize", "wait_event", "wait_stream", "record_event")),
    "torch.Tensor": (
        torch.Tensor,
        ("__eq__", "eq", "allclose", "equal", "isclose", "sub", "__sub__", "abs", "max", "cpu", "cuda", "to", "clone",
         "detach", "copy_", "item", "numpy", "contiguous", "data_ptr"),
    ),
    "torch.nn.Module": (torch.nn.Module, ("__call__", "_call_impl", "load_state_dict", "state_dict", "eval", "train")),
    "builtins": (builtins, ("abs", "all", "isinstance", "max", "min", "open", "print", "sum", "type")),
}  # fmt: skip
_STOPWATCH = "triton.testing"
_LATE = "do_bench"


Code = tuple[Any, Any]
"""A function and the code it had."""


def watch() -> Callable[[], list[str]]:
    """What tells, when it is called later, the names of whatever is another object than now, sorted.

    It holds all it compares with, so that whoever wants to mislead it has to search the memory of the process for it.
    """
    before, own, told = snapshot(), _own(), replaced
    code_of, ordered = _code_of, sorted

    def look() -> list[str]:
        changed = [
            f"{module}.{name}"
            for module, (names, known) in own.items()
            for name, was in known.items()
            if code_of(names.get(name)) != was
        ]
        return ordered([*changed, *told(before)])

    return look


def _own() -> dict[str, tuple[dict[str, Any], dict[str, Code]]]:
    """The functions and methods of every module of the kit in this process."""
    found: dict[str, tuple[dict[str, Any], dict[str, Code]]] = {}
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "audit" and isinstance(module, ModuleType):
            classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name]
            for place, names in [(name, vars(module)), *((f"{name}.{one.__name__}", vars(one)) for one in classes)]:
                functions = {key: _code_of(value) for key, value in names.items() if isinstance(value, FunctionType)}
                found[place] = (names, functions)  # type: ignore[assignment]
    return found


def _code_of(value: Any) -> Code:
    return value, getattr(value, "__code__", None)


def snapshot() -> dict[str, Any]:
    """What stands under every watched name now, and how many modes, hooks and traces are in force."""
    found = {
        f"{owner}.{name}": getattr(place, name, None) for owner, (place, names) in _OWNERS.items() for name in names
    }
    return {**found, **_in_force()}


def replaced(before: dict[str, Any]) -> list[str]:
    """Names of what is another object than it was, sorted."""
    now = snapshot()
    changed = [name for name, value in before.items() if now[name] is not value and not _same_count(now[name], value)]
    return sorted([*changed, *_late()])


def _in_force() -> dict[str, Any]:
    return {
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "sys.settrace": sys.gettrace(),
        "sys.setprofile": sys.getprofile(),
        "gc.callbacks": len(gc.callbacks),
    }


def _same_count(one: Any, other: Any) -> bool:
    return type(one) is int and one == other


def _late() -> list[str]:
    """Triton's stopwatch is imported after claimed code if at all: replaced if it is not from its module's file."""
    module = sys.modules.get(_STOPWATCH)
    code = getattr(getattr(module, _LATE, None), "__code__", None)
    return [] if module is None or (code and code.co_filename == module.__file__) else [f"{_STOPWATCH}.{_LATE}"]
