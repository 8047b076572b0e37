"""Runs in a child: the device a session works on, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

from audit.emulator.library import load
from audit.emulator.runtime import Runtime


class SessionDevice(Protocol):
    """What a session needs of a device."""

    def load(self, entry: str) -> Callable[..., Any]:
        """The claimed function of that name."""

    def begin(self) -> None:
        """From here on memory behaves as the session asked for."""

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of the tensor in device memory."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """Writes by kernels into each 4-byte word of the tensor, one saturating byte each; needs the checker."""

    def trace(self) -> dict[str, Any]:
        """What ran since the last call: `launches` and `reports`, then forgotten."""


class Emulated:
    """The emulated device: the variant's library and the runtime that schedules, allocates and checks."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._library = Path(settings["library"])
        self._header_set = settings["header_set"]
        self._runtime = Runtime(Path(settings["runtime"]))
        self._configuration = settings["configuration"]

    def load(self, entry: str) -> Callable[..., Any]:
        """See `SessionDevice`. Raises LookupError naming the functions the library has."""
        functions = load(self._library, self._header_set)
        if entry not in functions:
            raise LookupError(f"no function {entry}; the extension has: {', '.join(functions) or 'none'}")
        return functions[entry]

    def begin(self) -> None:
        """See `SessionDevice`."""
        self._runtime.configure(**self._configuration)

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`. The copy lies in the emulated device's own memory region."""
        return torch.empty_like(tensor).copy_(tensor)

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """See `SessionDevice`."""
        return self._runtime.write_counts(tensor)

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`."""
        events = {"launches": self._runtime.launches(), "reports": self._runtime.reports()}
        self._runtime.reset()
        return events


DEVICES: dict[str, Callable[[dict[str, Any]], SessionDevice]] = {"emulated": Emulated}


def open_device(settings: dict[str, Any]) -> SessionDevice:
    """The device `settings["kind"]` names. Raises LookupError listing the known ones."""
    kind = settings["kind"]
    if kind not in DEVICES:
        raise LookupError(f"unknown device {kind}; known: {', '.join(DEVICES)}")
    return DEVICES[kind](settings)
