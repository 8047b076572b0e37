"""Runs in a child: the emulated device's side of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from audit.build.emulated.library import load
from audit.build.emulated.runtime import Runtime
from audit.build.settings import EmulatedSettings
from audit.model import Harness


class Emulated:
    """The emulated device: the variant's library and the runtime that schedules, allocates and checks."""

    def __init__(self, settings: EmulatedSettings) -> None:
        self._library, self._header_set = settings.library, settings.header_set
        self._runtime = Runtime(settings.runtime)
        self._configuration = settings.configuration.model_dump()

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:  # noqa: ARG002
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

    def before_call(self, output_bytes: int) -> None:
        """See `SessionDevice`. Nothing: the runtime's allocator fills every fresh block itself."""

    def after_call(self) -> None:
        """See `SessionDevice`. Nothing: a launch returns when its kernel has ended."""

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """See `SessionDevice`."""
        return self._runtime.write_counts(tensor)

    def blank_unwritten(self, result: torch.Tensor) -> bool:
        """Puts the pattern of fresh memory over what the last launch did not write, if only a part of it was run."""
        return self._runtime.blank_unwritten(result)

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. A fault ends its own call only: at one shape it says nothing of the next."""
        events = {"launches": self._runtime.launches(), "reports": self._runtime.reports()}
        self._runtime.reset()
        self._runtime.recover()
        return events
