"""Runs in a child: detect changes of claimed code to its process: settings, threads, children, functions.

Clocks, checks, modes and the kit's own functions are compared by identity; `torch.manual_seed` is not, since
torch.compile wraps it.
"""

from __future__ import annotations

import builtins
import gc
import itertools
import operator
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
import torch.testing

TASKS = Path("/proc/self/task")
ENDING_LOOKS, ENDING_S = 5, 0.004

SETTINGS: dict[str, Callable[[], Any]] = {
    "torch.backends.cuda.matmul.allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": lambda: (
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    ),
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction": lambda: (
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
    ),
    "torch.backends.cudnn.allow_tf32": lambda: torch.backends.cudnn.allow_tf32,
    "torch.backends.cudnn.benchmark": lambda: torch.backends.cudnn.benchmark,
    "torch.backends.cudnn.deterministic": lambda: torch.backends.cudnn.deterministic,
    "torch.backends.cudnn.enabled": lambda: torch.backends.cudnn.enabled,
    "torch.get_float32_matmul_precision": torch.get_float32_matmul_precision,
    "torch.get_default_dtype": lambda: str(torch.get_default_dtype()),
    "torch.get_num_threads": torch.get_num_threads,
    "torch.is_grad_enabled": torch.is_grad_enabled,
    "torch.is_autocast_enabled": lambda: torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu"),
}
"""Settings that change the results or the speed of other code in the process."""


@dataclass(frozen=True)
class ProcessState:
    """The state of the process: settings by value, threads and children by PID."""

    settings: dict[str, Any]
    threads: frozenset[str]
    children: frozenset[str]

    def since(self, before: ProcessState) -> dict[str, Any]:
        """Return the differences from an earlier state: changed settings, counts of new threads and children."""
        settings = [name for name, value in self.settings.items() if before.settings[name] != value]
        return {
            "changed": settings,
            "threads": len(self.threads - before.threads),
            "children": len(self.children - before.children),
        }


@cache
def at_birth() -> ProcessState:
    """Return the state at the first session of the process, also for later sessions."""
    return look()


def settled(before: ProcessState) -> dict[str, Any]:
    """Return the differences from an earlier state; wait for joined threads, which are listed a moment longer."""
    found = look().since(before)
    for _ in range(ENDING_LOOKS):
        if not found["threads"]:
            break
        time.sleep(ENDING_S)
        found = look().since(before)
    return found


def look() -> ProcessState:
    """Return the present state."""
    tasks = [task.name for task in TASKS.iterdir()] if TASKS.is_dir() else []
    return ProcessState(
        settings={name: read() for name, read in SETTINGS.items()},
        threads=frozenset(tasks),
        children=frozenset(child for task in tasks for child in _children(task)),
    )


def _children(task: str) -> list[str]:
    try:
        return (TASKS / task / "children").read_text(encoding="ascii").split()
    except OSError:  # the thread ended meanwhile, or the kernel does not list children
        return []


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


_code_of = operator.attrgetter("__code__")
Functions = tuple[Mapping[str, Any], tuple[str, ...], tuple[FunctionType, ...], tuple[CodeType, ...]]
"""The namespace of a module or class; the names of its functions, the functions, and the code of each."""
Kit = dict[str, dict[str, Functions]]
"""The functions of a module and of each of its classes, by full name, by module."""
_before_fork: list[Kit] = []
_imported_last: list[str] = []
"""The last module that was imported before the fork: a session that looks at all copies the memory they lie in."""


def prepare() -> None:
    """Find the functions of the kit, for every process that is forked from this one."""
    _before_fork[:] = [_kit_functions({})]
    _imported_last[:] = [next(reversed(sys.modules))]


def watch() -> Callable[[], list[str]]:
    """Return a function that returns the names rebound since now, sorted.

    It holds references to all objects it compares and calls, so that code must search the process's memory to mislead
    it.
    """
    known = _before_fork.pop() if _before_fork else {}
    before, own, compare = snapshot(), {**known, **_kit_functions(known)}, replaced
    owners = [(owner, *functions) for module in own.values() for owner, functions in module.items()]
    code_of, ordered, some, over, together, other = _code_of, sorted, any, map, zip, operator.is_not

    def look() -> list[str]:
        changed = [
            f"{owner}.{key}"
            for owner, names, keys, functions, codes in owners
            if some(over(other, over(names.get, keys), functions)) or some(over(other, over(code_of, functions), codes))
            for key, was, code in together(keys, functions, codes)
            if names.get(key) is not was or code_of(was) is not code
        ]
        return ordered([*changed, *compare(before)])

    return look


def _kit_functions(known: Kit) -> Kit:
    """Return the functions and methods of every imported module of the kit that is not in `known`."""
    found: Kit = {}
    names_since = itertools.takewhile(lambda name: not known or name not in _imported_last, reversed(sys.modules))
    for name in reversed([*names_since]):
        module = sys.modules[name]
        if name.partition(".")[0] == "audit" and name not in known and isinstance(module, ModuleType):
            names = vars(module)
            classes = [one for one in names.values() if isinstance(one, type) and one.__module__ == name]
            owners = {name: names, **{f"{name}.{one.__name__}": vars(one) for one in classes}}
            found[name] = {owner: _functions(each) for owner, each in owners.items()}
    return found


def _functions(names: Mapping[str, Any]) -> Functions:
    found = {key: value for key, value in names.items() if isinstance(value, FunctionType)}
    return names, tuple(found), tuple(found.values()), tuple(map(_code_of, found.values()))


def snapshot() -> dict[str, Any]:
    """Return the object under every watched name, and the number of active modes, hooks and traces."""
    found = {
        f"{title}.{name}": getattr(owner, name, None) for title, (owner, names) in _OWNERS.items() for name in names
    }
    return {**found, **_in_force()}


def replaced(before: dict[str, Any]) -> list[str]:
    """Return the names rebound since a snapshot, sorted."""
    now = snapshot()
    changed = [name for name, value in before.items() if now[name] is not value and not _same_count(now[name], value)]
    return sorted([*changed, *_late_stopwatch()])


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


def _late_stopwatch() -> list[str]:
    """Return Triton's `do_bench` if its code is not from its module's file; it is imported after claimed code."""
    module = sys.modules.get(_STOPWATCH)
    code = getattr(getattr(module, _LATE, None), "__code__", None)
    return [] if module is None or (code and code.co_filename == module.__file__) else [f"{_STOPWATCH}.{_LATE}"]
