"""Time one call on a GPU, with the L2 cache cold or hot, by CUDA events or by a host clock.

`ceilings` times PyTorch's own copy and matrix products, which this very GPU reaches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from audit.run.calls.raw_memory import LEAST_FLUSH_BYTES

Call = Callable[[], Any]


def _nothing(*_: Any) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class TimedCall:
    """A call, with functions to call before and after it outside the timed events; `after` takes the result."""

    call: Call
    before: Callable[[], None] = _nothing
    after: Callable[[Any], None] = _nothing


FLUSH_OF_L2 = 3
"""The size of a flush in L2 caches."""
LEAD_CYCLES = 600_000
"""A wait of about 0.3 ms in which the host gets ahead of the GPU before each call; it touches no memory. On an H100 the
flush alone takes 60 us, less than a host may need for the call, and a kernel of 0.14 ms was timed at 0.17 to 0.34
ms."""
CONTRAST_OF_L2 = 0.4
"""The share of the L2 cache that is read hot and cold to test the flush."""
CONTRAST_SAMPLES = 20


class Stopwatch:
    """Times calls on the current GPU.

    A kernel that only waits gives the host time to enqueue the call, so that the time of a short kernel does not
    include the launch overhead. Dirty lines of a flush are written back while the call runs, as with triton's do_bench.
    """

    def __init__(self) -> None:
        self.l2_bytes = int(torch.cuda.get_device_properties(0).L2_cache_size)
        size = max(LEAST_FLUSH_BYTES, FLUSH_OF_L2 * self.l2_bytes)
        self._flush = torch.empty(size, dtype=torch.uint8, device="cuda")

    def flush(self) -> None:
        """Overwrite the L2 cache; return at once."""
        self._flush.zero_()

    def cold(self, calls: Sequence[TimedCall]) -> list[float]:
        """Return the milliseconds between two events around each call, each after a flush."""
        return self._timed(calls, self.flush)

    def hot(self, calls: Sequence[TimedCall]) -> list[float]:
        """Return the milliseconds of all calls but the first, which is not timed, without flushes."""
        calls[0].before()
        calls[0].after(calls[0].call())
        return self._timed(calls[1:], _nothing)

    def host(self, timed: TimedCall) -> float:
        """Return the milliseconds by the host's clock, which covers all streams and the launch, after a flush."""
        timed.before()
        self.flush()
        synchronize()
        started = _now()
        result = timed.call()
        synchronize()
        spent = 1e3 * (_now() - started)
        timed.after(result)
        return spent

    def contrast(self) -> tuple[list[float], list[float]]:
        """Return cold and hot times of reading a part of the L2 cache: cold is slower only if the flush works."""
        words = max(1 << 18, int(CONTRAST_OF_L2 * self.l2_bytes) // 4)
        data = torch.ones(words, dtype=torch.float32, device="cuda")
        calls = [TimedCall(lambda: torch.sum(data))] * (1 + CONTRAST_SAMPLES)
        self.hot(calls)  # the first calls load the kernel
        return self.cold(calls[1:]), self.hot(calls)

    def empty(self) -> Call:
        """Return a call of one tiny kernel, to measure the overhead of the events."""
        element = torch.zeros(1, device="cuda")
        return lambda: element.add_(1)

    def _timed(self, calls: Sequence[TimedCall], clear: Callable[[], None]) -> list[float]:
        events = [(_event(), _event()) for _ in calls]
        for timed, (start, end) in zip(calls, events, strict=True):
            timed.before()
            clear()
            _sleep(LEAD_CYCLES)
            _record(start)
            result = timed.call()
            _record(end)
            timed.after(result)
        synchronize()
        return [round(_elapsed_ms(start, end), 6) for start, end in events]


synchronize = torch.cuda.synchronize
"""This and the following names are bound before claimed code can replace them."""
_Event, _record, _elapsed_ms = torch.cuda.Event, torch.cuda.Event.record, torch.cuda.Event.elapsed_time
_sleep: Callable[[int], None] = torch.cuda._sleep
_now = time.perf_counter


def _event() -> Any:
    return _Event(enable_timing=True)  # type: ignore[no-untyped-call]


COPY_BYTES = 256 << 20
FP32_SIDE, MATRIX_UNIT_SIDE = 4096, 8192
SAMPLES = 5
TF32_FROM = (8, 0)


def ceilings(stopwatch: Stopwatch) -> list[dict[str, Any]]:
    """Return one event a ceiling: `variant`, `shape`, `samples_ms`; without TF32 on a GPU that lacks it."""
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    events = [_ceiling("copy", {"bytes": 2 * COPY_BYTES}, stopwatch, lambda: target.copy_(source))]
    events.append(_product("fp32", FP32_SIDE, torch.float32, stopwatch))
    if torch.cuda.get_device_capability() >= TF32_FROM:
        with flag(torch.backends.cuda.matmul, "allow_tf32", True):
            events.append(_product("tf32", MATRIX_UNIT_SIDE, torch.float32, stopwatch))
    events.append(_product("fp16", MATRIX_UNIT_SIDE, torch.float16, stopwatch))
    return events


def _product(precision: str, side: int, dtype: torch.dtype, stopwatch: Stopwatch) -> dict[str, Any]:
    a, b = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
    shape = {"M": side, "N": side, "K": side}
    return _ceiling(f"matmul_{precision}", shape, stopwatch, lambda: torch.matmul(a, b))


def _ceiling(name: str, shape: dict[str, int], stopwatch: Stopwatch, call: Any) -> dict[str, Any]:
    call()  # loads the kernel
    samples = [stopwatch.cold([TimedCall(call)])[0] for _ in range(SAMPLES)]
    return {"variant": f"ceiling:{name}", "shape": shape, "samples_ms": samples}


@contextmanager
def flag(owner: Any, name: str, value: bool) -> Iterator[None]:
    """Set a flag of torch within this context."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
