"""Detect changes of claimed code to its process: settings, threads, children, functions.

Clocks, checks and modes are compared by identity; `torch.manual_seed` is not, since
torch.compile wraps it.
"""

from __future__ import annotations

import builtins
import gc
import operator
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import torch.testing

from audit.sandbox.processes import children_of

TASKS = Path("/proc/self/task")
ENDING_LOOKS, ENDING_S = 5, 0.004

_ATTRIBUTES = (
    "backends.cuda.matmul.allow_tf32",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "backends.cudnn.allow_tf32",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.enabled",
)
_ONE, _TINY = 1.0, 1e-310
SETTINGS: dict[str, Callable[[], Any]] = {
    **{f"torch.{name}": partial(operator.attrgetter(name), torch) for name in _ATTRIBUTES},
    "torch.get_float32_matmul_precision": torch.get_float32_matmul_precision,
    "torch.get_default_dtype": lambda: str(torch.get_default_dtype()),
    "torch.get_num_threads": torch.get_num_threads,
    "torch.is_grad_enabled": torch.is_grad_enabled,
    "rounding and denormals of the processor": lambda: repr((_ONE + _TINY, _ONE - _TINY, _TINY * _ONE)),
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
        children=frozenset(child for task in tasks for child in children_of(TASKS / task)),
    )


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


def watch() -> Callable[[], list[str]]:
    """Return a function that returns the names rebound since now, sorted."""
    before, watched, ordered = _watched(), _watched, sorted

    def rebound() -> list[str]:
        now = watched()
        return ordered(name for name, value in before.items() if now[name] is not value)

    return rebound


def _watched() -> dict[str, Any]:
    """Return the object under every watched name, and the number of active modes, hooks and traces."""
    return {
        **{
            f"{title}.{name}": getattr(owner, name, None) for title, (owner, names) in _OWNERS.items() for name in names
        },
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "sys.settrace": sys.gettrace(),
        "sys.setprofile": sys.getprofile(),
        "gc.callbacks": len(gc.callbacks),  # like the other counts a small integer, of which Python has one object each
    }
