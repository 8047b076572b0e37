"""Triton's interpreter on the emulated device, whose checker sees the accesses of a program."""

from __future__ import annotations

import inspect
import itertools
import math
import os
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from audit.build.emulated.runtime import Access, Runtime
from audit.build.settings import LEAST_TF32, Configuration
from audit.run.devices.device import report
from audit.run.devices.triton import arithmetic, driver, libdevice, syntax
from audit.run.devices.triton.open_lanes import OpenLanes
from audit.run.devices.triton.patches import Patches
from audit.run.devices.tuned import taken
from audit.run.inputs.formats import tf32

INTERPRET = "TRITON_INTERPRET"
FAILED = "interpreter-failed"
MOST_CHARACTERS = 4000
"""The most characters of the interpreter's message."""
TIMING_OPTIONS = ("prune_configs_by", "warmup", "rep", "use_cuda_graph", "do_bench")
"""Arguments of `triton.autotune` that choose what is timed and how."""
MOST_OF_WHOLE = 64
"""The most programs of a grid that runs whole where a few of larger ones run: a later launch may read its results."""


class AllRun(Exception):
    """Every program of a launch that is to run has run."""


class _Configurations:
    """Leaves one configuration of those that the source's own `early_config_prune` leaves, by its number."""

    def __init__(self, every: list[Any], own: Callable[..., list[Any]] | None, number: int) -> None:
        self.left, self.number, self._own = every, number, own

    def __call__(self, every: list[Any], *arguments: Any, **named: Any) -> list[Any]:
        """Return it; of all where the source's own function leaves none, or needs what is not here."""
        self.left = every
        if self._own is not None:
            with suppress(Exception):
                self.left = self._own(every, *arguments, **named) or every
        return [self.left[self.number % len(self.left)]]


class Interpreted:
    """Triton's interpreter in this process. Must be created before the first import of triton.

    Args:
        source: the file whose lines are reported.
        runtime: the emulated device's, where a program counts as a block of one thread.
        configuration: the device's, whose order of blocks is the order of programs; see `behave`.

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
        self._tuners: list[tuple[Any, _Configurations]] = []
        self.configuration = configuration
        self._source, self._runtime = source, runtime
        self._order: list[int] = []
        self._begun, self._run, self._trial = False, 0, False
        self._reports: list[dict[str, Any]] = []
        self._interpreter: Any = interpreter
        for part in (arithmetic, libdevice, syntax):
            part.patch(interpreter)
        self._patch(interpreter)
        triton.autotune = self._tuned(triton.autotune)
        triton.runtime.driver.set_active(driver.driver(configuration.compute_capability))
        interpreter.InterpretedFunction.run = driver.ahead(interpreter.InterpretedFunction.run)

    def behave(self, configuration: Configuration) -> None:
        """Replace the configuration of the device, also that of the autotuners."""
        self.configuration = configuration
        for tuner, configurations in self._tuners:
            if configurations.number != configuration.tuned:
                configurations.number = configuration.tuned
                tuner.cache.clear()

    def tuned(self) -> list[dict[str, Any]]:
        """Return the configurations taken; see `tuned.taken`."""
        return taken([(tuner, len(configurations.left)) for tuner, configurations in self._tuners])

    def failures(self) -> list[dict[str, Any]]:
        """Return and clear the reports of launches that raised and of open lanes; the runtime lists the others."""
        reports, self._reports = [*self._reports, *self._open.reports()], []
        return reports

    def _tuned(self, autotune: Callable[..., Any]) -> Callable[..., Any]:
        """Return Triton's autotuner with one configuration alone and trials of it before the first call.

        The time of a trial says nothing here. Its writes to memory stay for the first call, as on a GPU.
        """

        def tried(call: Callable[[], None], **_: Any) -> list[float]:
            if self.configuration.blocks < 0:
                self._trial = True
                try:
                    call()
                finally:
                    self._trial = False
            return [0.0, 0.0, 0.0]

        def tuned(configs: list[Any], *args: Any, **named: Any) -> Any:
            given = inspect.signature(autotune).bind(configs, *args, **named).arguments
            own = (given.get("prune_configs_by") or {}).get("early_config_prune")
            kept = {name: value for name, value in given.items() if name not in TIMING_OPTIONS}
            chosen = _Configurations(configs, own, self.configuration.tuned)
            decorate = autotune(**kept, do_bench=tried, prune_configs_by={"early_config_prune": chosen})

            def decorated(function: Any) -> Any:
                self._tuners.append((tuner := decorate(function), chosen))
                return tuner

            return decorated

        return tuned

    def _patch(self, interpreter: Any) -> None:
        """Replace functions of the interpreter by those below, which call them."""
        self._plain = interpreter.GridExecutor.__call__
        interpreter.GridExecutor.__call__ = lambda executor, *args, **named: self._launch(executor, args, named)
        self._patches, self._open = Patches(interpreter), OpenLanes(interpreter)
        builder = interpreter.InterpreterBuilder
        for name, replaced in (
            ("set_grid_dim", self._begin),
            ("set_grid_idx", self._program),
            ("create_masked_load", self._load),
            ("create_masked_store", self._store),
            ("create_atomic_cas", self._swap),
            ("create_atomic_rmw", self._update),
            ("create_dot", self._dot),
        ):
            setattr(builder, name, _bound(replaced, getattr(builder, name)))

    def _launch(self, executor: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        kernel, line = executor.fn.__name__, self._line()
        self.kernels.add(kernel)
        self._patches.launch()
        self._kernel, self._launch_line, self._begun, self._refused, ended = kernel, line, False, False, False
        try:
            self._plain(executor, *args, **named)
            ended = True
        except AllRun:
            ended = True
        except self._interpreter.InterpreterError as error:
            if not isinstance(error.__cause__, AllRun):
                raise
            ended = True
        finally:
            if self._begun:
                self._runtime.end_programs(kept=ended and not self._trial)
            if not ended and not self._refused:
                self._reports.append(_failed(kernel, line, sys.exc_info()[1]))
        return SimpleNamespace(n_regs=0, n_spills=0)  # of a compiled kernel, which some wrappers print

    def _begin(self, plain: Callable[..., None], builder: Any, *grid: int) -> None:
        """Begin a launch of that grid; Triton launches nothing for one without programs."""
        plain(builder, *grid)
        if not math.prod(grid):
            raise AllRun
        self._order, self._run = chosen(grid, self.configuration), 0
        self._begun = self._runtime.begin_programs(self._kernel, self._launch_line or 0, grid, run=len(self._order))
        self._refused = not self._begun
        if self._refused:
            raise RuntimeError("Triton Error [CUDA]: invalid argument")  # as a GPU's driver says it
        if not self._order:
            raise AllRun

    def _program(self, plain: Callable[..., None], builder: Any, *_: int) -> None:
        """Begin the next program of the chosen order, whichever the interpreter has come to."""
        if self._run == len(self._order):
            raise AllRun
        _, height, depth = builder.grid_dim
        number, self._run = self._order[self._run], self._run + 1
        self._runtime.begin_program()
        plain(builder, number // depth // height, number // depth % height, number % depth)

    def _load(
        self, plain: Callable[..., Any], builder: Any, pointers: Any, mask: Any, other: Any, *more: Any, **named: Any
    ) -> Any:
        lanes = self._touched(pointers.data, mask.data, "read", size=self._bytes_of(pointers))
        asked = self.configuration.checker or self.configuration.lane_word
        if other is None and asked and not np.asarray(mask.data).all():
            other = self._open.value(pointers, self.configuration, kernel=self._kernel, line=self._line() or 0)
        return plain(builder, pointers, self._mask_of(lanes), other, *more, **named)

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

    def _dot(
        self, plain: Callable[..., Any], builder: Any, a: Any, b: Any, sum_: Any, precision: Any, *more: Any
    ) -> Any:
        """Round float32 factors as a GPU with TF32 does, unless the source asks for another precision."""
        if precision.name == "TF32" and self.configuration.compute_capability >= LEAST_TF32:
            a, b = (self._in_tf32(one) if one.data.dtype == np.float32 else one for one in (a, b))
        return plain(builder, a, b, sum_, precision, *more)

    def _in_tf32(self, factor: Any) -> Any:
        rounded = tf32(torch.from_numpy(np.ascontiguousarray(factor.data))).numpy()
        return self._interpreter.TensorHandle(rounded, factor.dtype)

    def _bytes_of(self, pointers: Any) -> int:
        return int(np.dtype(self._interpreter._get_np_dtype(pointers.get_element_ty())).itemsize)

    def _mask_of(self, lanes: Any) -> Any:
        return self._interpreter.TensorHandle(lanes, self._interpreter.tl.int1)

    def _touched(self, pointers: Any, mask: Any, access: Access, *, size: int, values: Any = None) -> Any:
        """Report an access to the checker and write the values; return the active lanes with valid addresses."""
        lanes = np.asarray(mask, dtype=np.bool_)  # of a block pointer, the mask is a buffer
        lanes = lanes if lanes.shape == pointers.shape else np.broadcast_to(lanes, pointers.shape)
        every = bool(lanes.all())
        addresses = np.ascontiguousarray(pointers if every else pointers[lanes], dtype=np.uint64)
        given = None if values is None else np.ascontiguousarray(values if every else values[lanes])
        mapped = self._runtime.touch(addresses, size=size, access=access, line=self._line() or 0, values=given)
        if not mapped.all():
            lanes = lanes.copy()
            lanes[lanes] = mapped.reshape(-1)
        return lanes

    def _line(self) -> int | None:
        """Return the innermost running line of the source."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != self._source:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == self._source else None


def chosen(grid: Sequence[int], configuration: Configuration) -> list[int]:
    """Return the numbers of the programs to run, in order; of a few of a large grid, the corners and random ones."""
    count, most = math.prod(grid), configuration.blocks
    drawing = random.Random(configuration.seed)
    if most == 0:
        return []
    if 0 < most < count and count > MOST_OF_WHOLE:
        corners = [0, count - 1, grid[2] - 1, grid[1] * grid[2] - 1, count - grid[1] * grid[2]]
        drawn = (drawing.randrange(count) for _ in itertools.repeat(None))
        return list(itertools.islice(dict.fromkeys(itertools.chain(corners, itertools.islice(drawn, 4 * most))), most))
    order = list(range(count))
    if configuration.block_order == "reverse":
        order.reverse()
    elif configuration.block_order == "random":
        drawing.shuffle(order)
    return order


def _bound(function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that passes the replaced method to the function."""
    return lambda builder, *args, **named: function(plain, builder, *args, **named)


def _failed(kernel: str, line: int | None, error: BaseException | None) -> dict[str, Any]:
    message = f"Triton's interpreter raised {type(error).__name__}: {str(error)[:MOST_CHARACTERS]}"
    return report(FAILED, message, kernel=kernel, line=line)
