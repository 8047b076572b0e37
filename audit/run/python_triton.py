"""Runs in a child: Triton without a GPU, through its interpreter, with every launch told."""

from __future__ import annotations

import os
import sys
from typing import Any

INTERPRET = "TRITON_INTERPRET"
FAILED = "interpreter-failed"
MOST_CHARACTERS = 4000
"""Of what the interpreter says."""


class Interpreted:
    """Triton's interpreter in this process. Must be made before anything imports triton.

    Raises:
        ImportError: triton is not installed.
    """

    def __init__(self, source: str) -> None:
        os.environ[INTERPRET] = "1"
        import triton
        from triton.runtime import interpreter

        self._source = source
        self._builder = interpreter.interpreter_builder
        self._launches: list[dict[str, Any]] = []
        self._reports: list[dict[str, Any]] = []
        self._plain = interpreter.GridExecutor.__call__
        interpreter.GridExecutor.__call__ = lambda executor, *args, **named: self._launch(executor, args, named)
        tuned = triton.autotune
        triton.autotune = lambda configs, *args, **named: tuned(configs[:1], *args, **named)  # nothing to time here

    def trace(self) -> dict[str, list[dict[str, Any]]]:
        """Launches that ended and those that raised, since the last call, with the keys of an emulated kernel's."""
        told = {"launches": self._launches, "reports": self._reports}
        self._launches, self._reports = [], []
        return told

    def _launch(self, executor: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        kernel, line, ended = executor.fn.__name__, self._calling_line(), False
        try:
            result = self._plain(executor, *args, **named)
            ended = True
        finally:
            if ended:
                self._launches.append(self._told(kernel, line))
            else:
                self._reports.append(_failed(kernel, line, sys.exc_info()[1]))
        return result

    def _calling_line(self) -> int | None:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename != self._source:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == self._source else None

    def _told(self, kernel: str, line: int | None) -> dict[str, Any]:
        grid = getattr(self._builder, "grid_dim", None)
        return {"kernel": kernel, "line": line, "grid": list(grid or ()), "block": [], "refused": None}


def _failed(kernel: str, line: int | None, error: BaseException | None) -> dict[str, Any]:
    return {
        "kind": FAILED,
        "message": f"Triton's interpreter raised {type(error).__name__}: {str(error)[:MOST_CHARACTERS]}",
        "kernel": kernel,
        "line": line,
        "library_offset": None,
        "count": 1,
    }
