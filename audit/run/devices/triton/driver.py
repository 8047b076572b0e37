"""What host code asks of Triton's driver and of a kernel that was built ahead, without a GPU.

Triton's tutorial of a fused softmax builds its kernel by `warmup`, asks for its registers and shared memory, and starts
as many programs as a GPU holds at once. A kernel must be right for any number of programs, so the numbers here are
those of a T4 and of a small kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from audit.run.references.fake_cuda_tensors import MULTIPROCESSORS

REGISTERS, SHARED_BYTES = 32, 1 << 10
"""Of each thread and of each program of a kernel that was built ahead."""
PROPERTIES = {
    "max_shared_mem": 64 << 10,
    "max_num_regs": 1 << 16,
    "multiprocessor_count": MULTIPROCESSORS,
    "warpSize": 32,
    "sm_clock_rate": 1_590_000,
    "mem_clock_rate": 5_001_000,
    "mem_bus_width": 256,
}
"""By the names of Triton's `get_device_properties`; clocks in kHz."""


def driver(compute_capability: int) -> SimpleNamespace:
    """Return an active driver for one GPU of that compute capability."""
    from triton.backends.compiler import GPUTarget

    target = GPUTarget("cuda", compute_capability, 32)
    return SimpleNamespace(
        get_current_device=lambda: 0,
        get_current_stream=lambda _=None: 0,
        get_current_target=lambda: target,
        get_active_torch_device=lambda: torch.device("cuda", 0),
        get_device_interface=lambda: torch.cuda,
        get_benchmarker=lambda: lambda call, **_: (call(), [0.0, 0.0, 0.0])[1],
        utils=SimpleNamespace(get_device_properties=lambda _=0: dict(PROPERTIES)),
    )


def ahead(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return how an interpreted function runs, where `warmup` returns a kernel that was built ahead."""

    def run(function: Any, *args: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        if warmup:
            return _Ahead(function, args, named)
        return plain(function, *args, grid=grid, warmup=False, **named)

    return run


class _Ahead:
    """A kernel for the constants and options that it was built with."""

    n_regs, n_spills = REGISTERS, 0
    metadata = SimpleNamespace(shared=SHARED_BYTES)

    def __init__(self, function: Any, args: Sequence[Any], named: dict[str, Any]) -> None:
        self._function = function
        parameters = inspect.signature(function.fn).parameters.values()
        given = dict(zip(function.arg_names, args, strict=False)) | named
        constant = [one.name for one in parameters if "constexpr" in str(one.annotation)]
        self._named = {name: value for name, value in given.items() if name in constant}

    def _init_handles(self) -> None:
        """Load the kernel on a GPU."""

    def __getitem__(self, grid: Sequence[int]) -> Callable[..., Any]:
        return partial(self._launch, grid)

    def _launch(self, grid: Sequence[int], *args: Any, **_: Any) -> Any:
        """Launch with all arguments, or with those that are no constants."""
        places = self._function.arg_names
        if len(args) < len(places):
            places = [name for name in places if name not in self._named]
        return self._function[tuple(grid)](**(self._named | dict(zip(places, args, strict=False))))
