"""Runs in a child: the kernels a call launched, out of a trace of torch's profiler."""

from __future__ import annotations

from typing import Any

MOST_LAUNCHES = 200
"""Launches told one by one; a call with more is told by its first ones."""


def launches_in(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry a launch, in order of start, with the keys of an emulated launch and what only a GPU tells.

    Args:
        trace: the profiler's Chrome trace, times in microseconds.

    Returns:
        `kernel` (demangled), `line` (None: a GPU does not know it), `grid`, `block`, `shared_bytes`, `registers` a
        thread, `stream`, `microseconds`, `refused` (None: what was refused leaves no kernel).
    """
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    ordered = sorted(kernels, key=lambda event: float(event["ts"]))
    return [_launch(event) for event in ordered[:MOST_LAUNCHES]]


def _launch(event: dict[str, Any]) -> dict[str, Any]:
    told = event.get("args", {})
    return {
        "kernel": event["name"],
        "line": None,
        "grid": told.get("grid"),
        "block": told.get("block"),
        "shared_bytes": told.get("shared memory"),
        "registers": told.get("registers per thread"),
        "stream": told.get("stream"),
        "microseconds": float(event["dur"]),
        "refused": None,
    }
