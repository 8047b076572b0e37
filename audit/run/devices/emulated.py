"""The emulated device of a session, for `.cu` variants and `.py` ones.

CUDA texts in a `.py` run in the emulator and Triton kernels in Triton's interpreter; torch runs on the CPU. The clocks
of the module `time` can stand still during claimed calls, see `PythonClocks`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import torch

from audit.build.emulated.library import load
from audit.build.emulated.runtime import Runtime
from audit.build.python.load import function_of, replace_load_inline
from audit.build.settings import Configuration, EmulatedPythonSettings, EmulatedSettings
from audit.model import Harness
from audit.run.calls.outputs import spanned
from audit.run.devices.device import SessionDevice
from audit.run.devices.triton.compiled import FrontEnd
from audit.run.devices.triton.interpreter import Interpreted
from audit.run.references.fake_cuda_tensors import FakeCuda, fake_cuda

CLOCKS = ("time", "monotonic", "perf_counter", "process_time")
TICK_NS = 100


class Emulated(SessionDevice):
    """The emulated device: the variant's library and the runtime that schedules, allocates and checks."""

    def __init__(self, settings: EmulatedSettings) -> None:
        self._library, self._header_set = settings.library, settings.header_set
        self._digests = settings.digests
        self._runtime = Runtime(settings.runtime, settings.digests)
        self._configuration = settings.configuration

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:  # noqa: ARG002
        """See `SessionDevice`."""
        functions = load(self._library, self._header_set, self._digests, prefix=self._runtime.prefix)
        if entry not in functions:
            raise LookupError(f"no function {entry}; the extension has: {', '.join(functions) or 'none'}")
        return functions[entry]

    def begin(self) -> None:
        """See `SessionDevice`."""
        self.behave(self._configuration)

    def behave(self, configuration: Configuration) -> None:
        """See `SessionDevice`."""
        self._checks = configuration.checker
        self._runtime.configure(configuration)

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`. The copy is in the emulated device's own memory region."""
        return torch.empty_like(tensor).copy_(tensor)

    def write_counts(self, tensor: torch.Tensor) -> bytes:
        """See `SessionDevice`."""
        return self._runtime.write_counts(spanned(tensor)) if self._checks else b""

    def blank_unwritten(self, result: torch.Tensor) -> bool:
        """Fill elements that the last launch did not write with the pattern of fresh memory, if it ran in part."""
        return self._runtime.blank_unwritten(result)

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. A fault ends its own call only."""
        events = {"launches": self._runtime.launches(), "reports": self._runtime.reports()}
        self._runtime.reset()
        self._runtime.recover()
        return events


class EmulatedPython(Emulated):
    """The emulated device for a `.py` variant, with CPU tensors in its memory."""

    def __init__(self, settings: EmulatedPythonSettings) -> None:
        self._runtime = Runtime(settings.runtime, settings.digests)
        self._configuration = settings.configuration
        self._settings = settings
        self._triton = self._of_triton()
        self._clocks = python_clocks()
        fake_cuda(settings.configuration.compute_capability)
        if settings.libraries or settings.refusals:
            replace_load_inline(self._extension, otherwise=None)

    def _of_triton(self) -> Interpreted | FrontEnd | None:
        settings = self._settings
        if not settings.triton:
            return None
        if settings.configuration.compiles:
            return FrontEnd(settings.python, settings.configuration.compute_capability)
        return Interpreted(str(settings.python), self._runtime, settings.configuration)

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """See `SessionDevice`."""
        settings = self._settings
        with FakeCuda():
            function = function_of(
                settings.python,
                entry,
                init_inputs=settings.init_inputs,
                device="cpu",
                harness=harness,
                digests=settings.digests,
            )

        def call(*inputs: Any) -> Any:
            with FakeCuda(), self._clocks.call():
                return function(*inputs)

        return call

    def behave(self, configuration: Configuration) -> None:
        """See `SessionDevice`."""
        super().behave(configuration)
        self._clocks.still = configuration.still_clock
        if isinstance(self._triton, Interpreted):
            self._triton.behave(configuration)

    def tuned(self) -> list[dict[str, Any]]:
        """See `SessionDevice`."""
        return self._triton.tuned() if isinstance(self._triton, Interpreted) else []

    def _extension(self, name: str, key: str) -> ModuleType | None:
        if key in self._settings.refusals:
            raise RuntimeError(self._settings.refusals[key])  # as torch's builder does
        if key not in self._settings.libraries:
            return None
        library, header_set = self._settings.libraries[key]
        module = ModuleType(name)
        vars(module).update(load(library, header_set, self._settings.digests, prefix=self._runtime.prefix))
        return module

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. Failures of Triton's interpreter follow the reports of the access checker."""
        events = super().trace()
        if not self._settings.exact_lines:
            known = self._triton.kernels if isinstance(self._triton, Interpreted) else set()
            events = {
                key: [one if one["kernel"] in known else {**one, "line": None} for one in found]
                for key, found in events.items()
            }
        return {**events, "reports": [*events["reports"], *(self._triton.failures() if self._triton else ())]}


class PythonClocks:
    """The replaced functions of the module `time`; `still` is whether they stand still inside `call`.

    Calls are slow on the emulated device. While the clocks stand still, time goes on by a tick a reading and by what is
    slept, so that calls seem to follow one another at once, as in `build/emulated/runtime/host_clock.cpp`.
    """

    def __init__(self) -> None:
        self.still = False
        self._called = False
        self._passed_ns = 0
        for name in CLOCKS:
            reading = self._reading(getattr(time, f"{name}_ns"))
            setattr(time, f"{name}_ns", reading)
            setattr(time, name, _in_seconds(reading))
        setattr(time, "sleep", self._sleeping(time.sleep))  # noqa: B010

    @contextmanager
    def call(self) -> Iterator[None]:
        """Within it claimed code runs; the kit's own readings are those of the machine."""
        self._called = True
        try:
            yield
        finally:
            self._called = False

    def _reading(self, clock: Callable[[], int]) -> Callable[[], int]:
        began: list[int] = []

        def read() -> int:
            if not (self.still and self._called):
                return clock()
            began[:] = began or [clock() - self._passed_ns]
            self._passed_ns += TICK_NS
            return began[0] + self._passed_ns

        return read

    def _sleeping(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        def slept(seconds: float) -> None:
            sleep(seconds)
            self._passed_ns += round(seconds * 1e9) if self._called else 0

        return slept


def _in_seconds(reading: Callable[[], int]) -> Callable[[], float]:
    return lambda: reading() / 1e9


@cache
def python_clocks() -> PythonClocks:
    """Return the clocks of this process, replaced once and for good."""
    return PythonClocks()
