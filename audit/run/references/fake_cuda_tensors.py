"""CPU tensors that report a CUDA device, so that Python written for a GPU takes its GPU path.

Without it `x.is_cuda` selects a source's fallback, and `device="cuda"` raises. Values stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

MULTIPROCESSORS = 40
"""Multiprocessors and memory of the T4 that the emulated device models."""
MEMORY_BYTES = 16 << 30


class FakeCuda(TorchFunctionMode):
    """While active, every CPU tensor reports `cuda:0` as its device, and tensors requested there are on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self._entered = False

    def __enter__(self) -> FakeCuda:
        """See `TorchFunctionMode`."""
        self._entered = True
        torch.set_default_device = _set_default_device  # whose mode is below this one
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *raised: Any) -> None:
        """End this mode even if torch pops another one, which claimed code left active."""
        self._entered = False
        torch.set_default_device = _PLAIN_DEFAULT
        super().__exit__(*raised)  # type: ignore[no-untyped-call]

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """See `TorchFunctionMode`."""
        named = kwargs or {}
        if not self._entered:
            return function(*args, **named)
        answer = _ANSWERS.get(_attribute(function))
        if answer is not None and args and isinstance(args[0], torch.Tensor):
            return answer(args[0])
        if function is torch.device:  # compared with that of a tensor
            return function(*args, **named)
        if named.get("pin_memory"):
            named = {**named, "pin_memory": False}
        return function(*map(_here, args), **{name: _here(value) for name, value in named.items()})


def fake_cuda(compute_capability: int) -> None:
    """Make `torch.cuda` report one idle GPU of that compute capability (75 is 7.5), for good in this process.

    It stays uninitialised: seeding torch would access the generator of the missing GPU.
    """
    capability = divmod(compute_capability, 10)
    properties = SimpleNamespace(
        name="emulated device",
        major=capability[0],
        minor=capability[1],
        multi_processor_count=MULTIPROCESSORS,
        total_memory=MEMORY_BYTES,
        warp_size=32,
    )
    stream = SimpleNamespace(cuda_stream=0, stream_id=0, device=torch.device("cpu"), synchronize=lambda: None)
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,  # noqa: ARG005
        "device": nullcontext,
        "device_of": nullcontext,
        "_DeviceGuard": nullcontext,
        "synchronize": lambda device=None: None,  # noqa: ARG005
        "empty_cache": lambda: None,
        "current_stream": lambda device=None: stream,  # noqa: ARG005
        "default_stream": lambda device=None: stream,  # noqa: ARG005
        "get_device_capability": lambda device=None: capability,  # noqa: ARG005
        "get_device_name": lambda device=None: properties.name,  # noqa: ARG005
        "get_device_properties": lambda device=None: properties,  # noqa: ARG005
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)


def _attribute(function: Any) -> str:
    """Return the key of a function in `_ANSWERS`: `is_cuda` for that attribute's getter, `cuda()` for that method."""
    owner: Any = getattr(function, "__self__", None)
    if type(owner).__name__ == "getset_descriptor":
        return str(owner.__name__)
    return f"{function.__name__}()" if type(function).__name__ == "method_descriptor" else ""


def _claimed_device(tensor: torch.Tensor) -> torch.device:
    with torch._C.DisableTorchFunction():
        own = tensor.device
    return torch.device("cuda", 0) if own.type == "cpu" else own


_ANSWERS: dict[str, Callable[[torch.Tensor], Any]] = {
    "is_cuda": lambda tensor: _claimed_device(tensor).type == "cuda",
    "is_cpu": lambda tensor: False,  # noqa: ARG005
    "device": _claimed_device,
    "cuda()": lambda tensor: tensor,
    "get_device()": lambda tensor: 0,  # noqa: ARG005
    "pin_memory()": lambda tensor: tensor,
    "record_stream()": lambda tensor: None,  # noqa: ARG005
}


_PLAIN_DEFAULT = torch.set_default_device


def _set_default_device(device: Any) -> None:
    _PLAIN_DEFAULT(_here(device))


def _here(value: Any) -> Any:
    """Return the CPU for a CUDA device, and any other value as it is."""
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.partition(":")[0] == "cuda" else value
