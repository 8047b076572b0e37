"""Runs in a child: the interface of a session's device."""

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
        """Return the claimed function of that name; a module's in the harness's mode and dtype.

        Raises:
            LookupError: there is no such function; lists the known ones.
        """

    def begin(self) -> None:
        """Apply the session's configuration of memory from here on."""

    def behave(self, configuration: Configuration) -> None:
        """Apply another configuration of the emulated device. Raises LookupError on a GPU."""

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a copy of the tensor in device memory."""

    def checksum(self, tensor: torch.Tensor) -> int | None:
        """Return a checksum of the tensor's values, row major; None where a comparison is as quick."""

    def before_call(self, output_bytes: Sequence[int]) -> None:
        """Prepare memory for a call whose right outputs have those sizes."""

    def after_call(self) -> None:
        """Wait for the kernels of the last call. Raises their exceptions."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """Return the number of writes to each 4-byte word of the tensor, as saturating bytes; empty if not counted."""

    def trace(self) -> dict[str, Any]:
        """Return and clear the `launches` and `reports` since the last call."""


def open_device(settings: DeviceSettings) -> SessionDevice:
    """Return the device of those settings. Imports are local: a session imports its own device alone."""
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
