"""Runs in a child: Triton's interpreter on the emulated device, whose checker sees the accesses of a program."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.build.emulated.runtime import Access, Runtime
from audit.build.settings import Configuration
from audit.run import triton_bfloat16

INTERPRET = "TRITON_INTERPRET"
FAILED = "interpreter-failed"
MOST_CHARACTERS = 4000
"""The most characters of the interpreter's message."""


class NothingRun(Exception):
    """The configuration runs no program of a launch."""


class Interpreted:
    """Triton's interpreter in this process. Must be created before the first import of triton.

    Args:
        source: the file whose lines are reported.
        runtime: the emulated device's, where a program counts as a block of one thread.
        configuration: the device's, whose order of blocks is the order of programs; it may be replaced between calls.

    Attributes:
        kernels: the names of all kernels launched so far.

    Raises:
        ImportError: triton is not installed.
    """

    def __init__(self, source: str, runtime: Runtime, configuration: Configuration) -> None:
        os.environ[INTERPRET] = "1"
        import triton
        from triton.runtime import interpreter

        self.kernels: set[str] = set()
        self.configuration = configuration
        self._source, self._runtime, self._builder = source, runtime, interpreter.interpreter_builder
        self._order: list[int] = []
        self._launches: list[dict[str, Any]] = []
        self._reports: list[dict[str, Any]] = []
        self._interpreter: Any = interpreter
        triton_bfloat16.patch(interpreter)
        self._patch(interpreter)
        tuned = triton.autotune
        triton.autotune = lambda configs, *args, **named: tuned(configs[:1], *args, **named)  # nothing to time here

    def trace(self) -> dict[str, list[dict[str, Any]]]:
        """Return and clear `launches` that ended, and `reports` of those that raised, as for an emulated kernel."""
        events = {"launches": self._launches, "reports": self._reports}
        self._launches, self._reports = [], []
        return events

    def _patch(self, interpreter: Any) -> None:
        """Replace functions of the interpreter by those below, which call them."""
        self._plain = interpreter.GridExecutor.__call__
        interpreter.GridExecutor.__call__ = lambda executor, *args, **named: self._launch(executor, args, named)
        patch = interpreter._patch_lang_tensor

        def patched(tensor: Any, scope: Any) -> None:
            patch(tensor, scope)  # its own __index__ raises under numpy 2.4, see triton issue 9171
            scope.set_attr(tensor, "__index__", lambda one: one.handle.data.item())

        interpreter._patch_lang_tensor = patched
        builder = interpreter.InterpreterBuilder
        for name, replaced in (
            ("set_grid_dim", self._begin),
            ("set_grid_idx", self._program),
            ("create_masked_load", self._load),
            ("create_masked_store", self._store),
            ("create_atomic_cas", self._swap),
            ("create_atomic_rmw", self._update),
        ):
            setattr(builder, name, _bound(replaced, getattr(builder, name)))

    def _launch(self, executor: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        kernel, line, ended = executor.fn.__name__, self._line(), False
        self.kernels.add(kernel)
        self._kernel, self._order, result = kernel, [], None
        try:
            result = self._plain(executor, *args, **named)
            ended = True
        except NothingRun:
            ended = True
        finally:
            self._runtime.end_programs()
            if ended:
                self._launches.append(self._described(kernel, line))
            else:
                self._reports.append(_failed(kernel, line, sys.exc_info()[1]))
        return result

    def _begin(self, plain: Callable[..., None], builder: Any, *grid: int) -> None:
        """Begin a launch of that grid."""
        plain(builder, *grid)
        if self.configuration.blocks == 0:
            raise NothingRun
        self._order = list(range(grid[0] * grid[1] * grid[2]))
        if self.configuration.block_order == "reverse":
            self._order.reverse()
        elif self.configuration.block_order == "random":
            random.Random(self.configuration.seed).shuffle(self._order)
        self._runtime.begin_programs(self._kernel, len(self._order))

    def _program(self, plain: Callable[..., None], builder: Any, *index: int) -> None:
        """Begin a program: the one at this position of the configured order."""
        _, height, depth = builder.grid_dim
        number = self._order[(index[0] * height + index[1]) * depth + index[2]]
        self._runtime.begin_program()
        plain(builder, number // depth // height, number // depth % height, number % depth)

    def _load(self, plain: Callable[..., Any], builder: Any, pointers: Any, mask: Any, *more: Any, **named: Any) -> Any:
        lanes = self._touched(pointers.data, mask.data, "read", size=self._bytes_of(pointers))
        return plain(builder, pointers, self._mask_of(lanes), *more, **named)

    def _store(self, plain: Any, builder: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> None:  # noqa: ARG002
        data = np.broadcast_to(value.data, pointers.data.shape)
        self._touched(pointers.data, mask.data, "write", size=data.dtype.itemsize, values=data)

    def _swap(self, plain: Callable[..., Any], builder: Any, pointers: Any, *more: Any) -> Any:
        self._touched(pointers.data, np.True_, "atomic", size=self._bytes_of(pointers))
        return plain(builder, pointers, *more)

    def _update(self, plain: Callable[..., Any], builder: Any, kind: Any, pointers: Any, *more: Any) -> Any:
        value, mask, *rest = more
        lanes = self._touched(pointers.data, mask.data, "atomic", size=self._bytes_of(pointers))
        return plain(builder, kind, pointers, value, self._mask_of(lanes), *rest)

    def _bytes_of(self, pointers: Any) -> int:
        return int(np.dtype(self._interpreter._get_np_dtype(pointers.get_element_ty())).itemsize)

    def _mask_of(self, lanes: Any) -> Any:
        return self._interpreter.TensorHandle(lanes, self._interpreter.tl.int1)

    def _touched(self, pointers: Any, mask: Any, access: Access, *, size: int, values: Any = None) -> Any:
        """Report an access to the checker and write the values; return the active lanes with valid addresses."""
        lanes = np.broadcast_to(mask, pointers.shape).astype(np.bool_)  # a copy
        addresses = np.ascontiguousarray(pointers[lanes], dtype=np.uint64)
        given = None if values is None else np.ascontiguousarray(values[lanes])
        line = self._line() or 0
        lanes[lanes] = self._runtime.touch(addresses, size=size, access=access, line=line, values=given)
        return lanes

    def _line(self) -> int | None:
        """Return the innermost running line of the source."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != self._source:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == self._source else None

    def _described(self, kernel: str, line: int | None) -> dict[str, Any]:
        grid = getattr(self._builder, "grid_dim", None)
        return {"kernel": kernel, "line": line, "grid": list(grid or ()), "block": [], "refused": None}


def _bound(function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that passes the replaced method to the function."""
    return lambda builder, *args, **named: function(plain, builder, *args, **named)


def _failed(kernel: str, line: int | None, error: BaseException | None) -> dict[str, Any]:
    return {
        "kind": FAILED,
        "message": f"Triton's interpreter raised {type(error).__name__}: {str(error)[:MOST_CHARACTERS]}",
        "kernel": kernel,
        "line": line,
        "library_offset": None,
        "count": 1,
    }
