"""Runs in a child: the driver's own view of the GPU between timed regions, through its management library and ctypes.

Names and numbers are those of NVIDIA's NVML API reference (https://docs.nvidia.com/deploy/nvml-api/).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
SM, MEMORY = 1, 2
TEMPERATURE_OF_GPU = 0
PROCESS_ROOM = 64


class ProcessInfo(ctypes.Structure):
    """`nvmlProcessInfo_t`: one process with a compute context."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Watch:
    """Clocks, power, temperature, throttle reasons and the number of processes of one GPU.

    Args:
        uuid: the GPU's own, as `torch.cuda.get_device_properties(0).uuid` gives it, with or without "GPU-".

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
        """`sm_mhz`, `memory_mhz`, `power_w`, `temperature_c`, `reasons` (bits), `processes`; None where untold."""
        milliwatts = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
        return {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, ctypes.c_int(SM)),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, ctypes.c_int(MEMORY)),
            "power_w": None if milliwatts is None else milliwatts / 1e3,
            "temperature_c": self._number("nvmlDeviceGetTemperature", ctypes.c_uint, ctypes.c_int(TEMPERATURE_OF_GPU)),
            "reasons": self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong),
            "processes": self._processes(),
        }

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
    """A watch on that GPU; None where the driver's library does not answer."""
    try:
        return Watch(uuid)
    except (OSError, AttributeError):
        return None
