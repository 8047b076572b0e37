"""Runs in a child: the emulated device's side of a session for a `.py` variant."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from audit.build.emulated.library import load
from audit.build.emulated.runtime import Runtime
from audit.build.python.load import function_of, stand_in
from audit.build.settings import EmulatedPythonSettings
from audit.model import Harness
from audit.run.emulated import Emulated
from audit.run.fake_cuda_tensors import CudaGuise, pose
from audit.run.python_triton import Interpreted


class EmulatedPython(Emulated):
    """CPU tensors in the emulated device's memory; CUDA texts and Triton kernels run there, the rest is torch's."""

    def __init__(self, settings: EmulatedPythonSettings) -> None:
        self._runtime = Runtime(settings.runtime)
        self._configuration = settings.configuration.model_dump()
        self._settings = settings
        self._triton = Interpreted(str(settings.python)) if settings.triton else None
        pose(settings.configuration.compute_capability)
        if settings.libraries or settings.refusals:
            stand_in(self._extension, otherwise=None)

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """See `SessionDevice`. Raises what the module raises, LookupError where it has no such function."""
        settings = self._settings
        with CudaGuise():
            function = function_of(
                settings.python, entry, init_inputs=settings.init_inputs, device="cpu", harness=harness
            )

        def call(*inputs: Any) -> Any:
            with CudaGuise():
                return function(*inputs)

        return call

    def _extension(self, name: str, key: str) -> ModuleType | None:
        if key in self._settings.refusals:
            raise RuntimeError(self._settings.refusals[key])  # as torch's builder does
        if key not in self._settings.libraries:
            return None
        library, header_set = self._settings.libraries[key]
        module = ModuleType(name)
        vars(module).update(load(library, header_set))
        return module

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. Launches of Triton kernels stand behind those of CUDA kernels."""
        events = super().trace()
        told = self._triton.trace() if self._triton else {"launches": [], "reports": []}
        if not self._settings.exact_lines:
            events = {key: [{**one, "line": None} for one in found] for key, found in events.items()}
        return {key: [*events[key], *told[key]] for key in events}
