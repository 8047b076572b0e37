"""Runs in a child: what claimed code may change in its process: settings, threads, children."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

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
"""Settings that change what other code of the process computes, or how fast."""


@dataclass(frozen=True)
class ProcessState:
    """One look at the process: settings by value, threads and children by number."""

    settings: dict[str, Any]
    threads: frozenset[str]
    children: frozenset[str]

    def since(self, before: ProcessState) -> dict[str, Any]:
        """What differs from an earlier look: names, and how many threads and children came and stayed."""
        settings = [name for name, value in self.settings.items() if before.settings[name] != value]
        return {
            "changed": settings,
            "threads": len(self.threads - before.threads),
            "children": len(self.children - before.children),
        }


@cache
def at_birth() -> ProcessState:
    """The process as its first session found it; later sessions of the same process get the same look."""
    return look()


def settled(before: ProcessState) -> dict[str, Any]:
    """What differs from an earlier look; a thread that was joined is listed a moment longer and is waited for."""
    found = look().since(before)
    for _ in range(ENDING_LOOKS):
        if not found["threads"]:
            break
        time.sleep(ENDING_S)
        found = look().since(before)
    return found


def look() -> ProcessState:
    """The process now."""
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
