"""What a session asks of its device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from audit.build.settings import (
    CheckedSettings,
    Configuration,
    DeviceSettings,
    EmulatedPythonSettings,
    EmulatedSettings,
)
from audit.model import Harness


class SessionDevice:
    """A session's device. Each kind overrides the methods in which it differs from a device without settings, whose
    memory is the host's, where a call returns when its kernels have ended, and which counts no writes."""

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """Return the claimed function of that name; a module's in the harness's mode and dtype. Raises LookupError:
        there is no such function; lists the known ones. Also any exception of a `.py` variant."""
        raise NotImplementedError

    def begin(self) -> None:
        """Apply the session's configuration of memory from here on."""

    def behave(self, configuration: Configuration) -> None:  # noqa: ARG002
        """Apply another configuration. Raises LookupError except on the emulated device."""
        raise LookupError("this session keeps to one configuration")

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a copy of the tensor in device memory."""
        raise NotImplementedError

    def checksum(self, tensor: torch.Tensor) -> int | None:  # noqa: ARG002
        """Return a checksum of the tensor's values, row major; None where a comparison is as quick."""
        return None

    def before_call(self, output_bytes: Sequence[int]) -> None:
        """Prepare memory for a call whose right outputs have those sizes."""

    def after_call(self) -> None:
        """Wait for the kernels of the last call. Raises their exceptions."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:  # noqa: ARG002
        """Return the number of writes to each 4-byte word of the tensor, as saturating bytes; empty if not counted."""
        return b""

    def tuned(self) -> list[dict[str, Any]]:
        """Return the configurations that Triton's autotuner took, see `tuned.taken`; on a GPU in the mode `traced`."""
        return []

    def trace(self) -> dict[str, Any]:
        """Return and clear the `launches` and `reports` since the last call."""
        raise NotImplementedError


def report(kind: str, message: str, *, kernel: str = "", line: int | None = None) -> dict[str, Any]:
    """Return one report of a device, without an offset into a library."""
    return {"kind": kind, "message": message, "kernel": kernel, "line": line, "library_offset": None, "count": 1}


def open_device(settings: DeviceSettings) -> SessionDevice:
    """Return the device of those settings. Imports are local: a session imports its own device alone."""
    if isinstance(settings, EmulatedSettings):
        from audit.run.devices.emulated import Emulated

        return Emulated(settings)
    if isinstance(settings, EmulatedPythonSettings):
        from audit.run.devices.emulated import EmulatedPython

        return EmulatedPython(settings)
    if isinstance(settings, CheckedSettings):
        from audit.run.devices.sanitizer import Sanitized

        return Sanitized(settings)
    from audit.run.devices.cuda import Cuda

    return Cuda(settings)
