"""Runs in a child: the device a session works on, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from audit.build.settings import (
    CheckedSettings,
    Configuration,
    DeviceSettings,
    EmulatedPythonSettings,
    EmulatedSettings,
)
from audit.model import Harness


class SessionDevice(Protocol):
    """The interface of a device to a session."""

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """The claimed function of that name; a module's in the harness's mode and dtype."""

    def begin(self) -> None:
        """From here on memory behaves as the session asked for."""

    def behave(self, configuration: Configuration) -> None:
        """Behave as that configuration of the emulated device says. Raises LookupError on a GPU, which has one."""

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of the tensor in device memory."""

    def checksum(self, tensor: torch.Tensor) -> int | None:
        """A checksum of what the tensor holds, row major; None where to compare is as quick."""

    def before_call(self, output_bytes: Sequence[int]) -> None:
        """Called right before each call, with the sizes of the outputs it ought to return."""

    def after_call(self) -> None:
        """Called right after each call: waits for its kernels; raises what they raised."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """Writes by kernels into each 4-byte word of the tensor, a saturating byte each; empty without the checker."""

    def trace(self) -> dict[str, Any]:
        """Return `launches` and `reports` since the last call, and forget them."""


def open_device(settings: DeviceSettings) -> SessionDevice:
    """Return the device of those settings. Its module is imported here: no device needs what another is made of."""
    if isinstance(settings, EmulatedSettings):
        from audit.run.emulated import Emulated

        return Emulated(settings)
    if isinstance(settings, EmulatedPythonSettings):
        from audit.run.emulated import EmulatedPython

        return EmulatedPython(settings)
    if isinstance(settings, CheckedSettings):
        from audit.run.sanitizer import Sanitized

        return Sanitized(settings)
    from audit.run.cuda import Cuda

    return Cuda(settings)
