"""Independent clocks, which are the profiler and the parent's clock, and the state of the GPU.

The profiler measures the kernels of a call, to compare with the CUDA events around it. For the parent's clock, calls
run between two messages that the parent stamps on arrival: no clock of this process takes part.

Clocks, power and temperature come from the driver's management library through ctypes; names and numbers are those of
the NVML API reference (https://docs.nvidia.com/deploy/nvml-api/).
"""

from __future__ import annotations

import ctypes
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from audit.run.calls import raw_memory
from audit.run.calls.containers import tensors
from audit.run.messages.timing_requests import READINGS
from audit.run.timing.callables import Indexed
from audit.run.timing.stopwatch import Call, Stopwatch, synchronize

MARKER = "spin_kernel"
"""The kernel of `torch.cuda._sleep`, which separates the calls on the profiler's time line."""


@dataclass(frozen=True)
class Activity:
    """One kernel, copy or fill on the GPU's time line, in nanoseconds."""

    name: str
    start_ns: int
    end_ns: int


def profiled(calls: Sequence[Call], stopwatch: Stopwatch) -> list[list[Activity]]:
    """Run every call once with a cold L2 cache and return its activities on the GPU. Raises RuntimeError: the profiler
    saw another number of calls, for instance because the driver forbids profiling."""
    with profile(activities=[ProfilerActivity.CUDA]) as finished:
        for call in calls:
            stopwatch.flush()
            _mark()
            call()
            _mark()
        torch.cuda.synchronize()
    segments = between_markers(_activities(finished))
    if len(segments) != len(calls):
        raise RuntimeError(f"the profiler saw {len(segments)} calls of {len(calls)}")
    return segments


def between_markers(activities: Sequence[Activity]) -> list[list[Activity]]:
    """Return the activities within each pair of markers, without those between pairs, such as flushes."""
    segments: list[list[Activity]] = []
    inside = False
    for one in sorted(activities, key=lambda activity: activity.start_ns):
        if MARKER in one.name:
            inside = not inside
            if inside:
                segments.append([])
        elif inside:
            segments[-1].append(one)
    return segments


def busy_ms(activities: Sequence[Activity]) -> float:
    """Return the milliseconds in which at least one activity ran."""
    total, reached = 0, 0
    for one in sorted(activities, key=lambda activity: activity.start_ns):
        total += max(0, one.end_ns - max(reached, one.start_ns))
        reached = max(reached, one.end_ns)
    return total / 1e6


def span_ms(activities: Sequence[Activity]) -> float:
    """Return the milliseconds from the first start to the last end; 0 without activities."""
    if not activities:
        return 0.0
    return (max(one.end_ns for one in activities) - min(one.start_ns for one in activities)) / 1e6


def _mark() -> None:
    torch.cuda._sleep(1)  # type: ignore[no-untyped-call]


def _activities(finished: Any) -> list[Activity]:
    events: Callable[[], Any] = finished.profiler.kineto_results.events
    return [
        Activity(one.name(), one.start_ns(), one.end_ns())
        for one in events()
        if "CUDA" in str(one.device_type()) and not one.is_user_annotation()
    ]


def between_messages(
    name: str, call: Indexed, *, sets: Sequence[list[Any]], calls: int, choice: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield pairs of events about a callable, `at` begin and `at` end, around `calls` calls in a row, over each of the
    sets on the GPU in turn.

    The first series of calls is a warm-up without messages. Before each call one number of its arguments is replaced by
    that of another set, past torch's version counters, so that no call has the inputs of an earlier one."""
    for reading in range(1 + READINGS):
        changes = [_change(sets, index, choice) for index in range(calls)]
        synchronize()
        if reading:
            yield {"independent_clock": name, "at": "begin", "calls": calls}
        for index, change in enumerate(changes):
            if change is not None:
                raw_memory.write(*change)
            call(index % len(sets))
        synchronize()
        if reading:
            yield {"independent_clock": name, "at": "end", "calls": calls}


def _change(sets: Sequence[list[Any]], index: int, choice: random.Random) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return an element of the set that the call of that index reads, and its replacement from another set."""
    mine, other = (tensors(sets[(index + more) % len(sets)]) for more in (0, 1))
    fit = [pair for pair in zip(mine, other, strict=True) if all(one.is_contiguous() and one.numel() for one in pair)]
    if len(sets) < 2 or not fit:
        return None
    target, source = choice.choice(fit)
    element = choice.randrange(target.numel())
    return target.view(-1)[element : element + 1], source.view(-1)[element : element + 1]


LIBRARY = "libnvidia-ml.so.1"
SM, MEMORY = 1, 2
TEMPERATURE_OF_GPU = 0
PROCESS_ROOM = 64
BUSY_PERCENT, IDLE_S, POLL_S = 20, 1.5, 0.1
"""A GPU is shared where it is busy for more of the time than that while this process waits: after `IDLE_S` seconds the
driver's figure, which looks back a second at most, has none of the kit's own work in it."""


class ProcessInfo(ctypes.Structure):
    """`nvmlProcessInfo_t`: one process with a compute context."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Utilization(ctypes.Structure):
    """`nvmlUtilization_t`: the percent of the last second, or less, in which a kernel ran, and memory was accessed."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class Watch:
    """Clocks, power, temperature, throttle reasons and the number of processes of one GPU.

    Args:
        uuid: the GPU's, with or without "GPU-", see `torch.cuda.get_device_properties`.

    Raises:
        OSError: no such library, or it does not know the GPU.
    """

    def __init__(self, uuid: str) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        self._device = ctypes.c_void_p()
        name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        found = ctypes.byref(self._device)
        if self._library.nvmlInit_v2() or self._library.nvmlDeviceGetHandleByUUID(name.encode(), found):
            raise OSError(f"{LIBRARY} does not know this GPU")

    def state(self) -> dict[str, Any]:
        """Return `sm_mhz`, `memory_mhz`, `power_w`, `temperature_c`, `reasons` (bits), `processes`; None if unknown."""
        milliwatts = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
        return {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, ctypes.c_int(SM)),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, ctypes.c_int(MEMORY)),
            "power_w": None if milliwatts is None else milliwatts / 1e3,
            "temperature_c": self._number("nvmlDeviceGetTemperature", ctypes.c_uint, ctypes.c_int(TEMPERATURE_OF_GPU)),
            "reasons": self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong),
            "processes": self._processes(),
        }

    def shared(self) -> int | None:
        """Return the percent of the time in which others use the GPU, if it is over `BUSY_PERCENT`; None if it is not,
        or unknown. This process must have no kernel running."""
        until, found = time.monotonic() + IDLE_S, Utilization()
        while not self._library.nvmlDeviceGetUtilizationRates(self._device, ctypes.byref(found)):
            if found.gpu <= BUSY_PERCENT:
                return None
            if time.monotonic() > until:
                return int(found.gpu)
            time.sleep(POLL_S)
        return None

    def _number(self, function: str, kind: Callable[[], Any], *arguments: Any) -> int | None:
        value = kind()
        code = getattr(self._library, function)(self._device, *arguments, ctypes.byref(value))
        return None if code else int(value.value)

    def _processes(self) -> int | None:
        count = ctypes.c_uint(PROCESS_ROOM)
        room = (ProcessInfo * PROCESS_ROOM)()
        ask = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        if ask is None or ask(self._device, ctypes.byref(count), room):
            return None
        return int(count.value)


def watch(uuid: str) -> Watch | None:
    """Return a `Watch` of that GPU; None without the driver's library."""
    try:
        return Watch(uuid)
    except (OSError, AttributeError):
        return None
