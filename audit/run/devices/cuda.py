"""The GPU as the device of a session, for compiled variants and `.py` ones."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.autograd.profiler import profile

from audit.build.cache import sealed
from audit.build.cuda import fast_load
from audit.build.cuda.demangle import demangled
from audit.build.python.load import function_of, replace_load_inline
from audit.build.settings import CudaLibrary, CudaPython, CudaPythonSettings, CudaSettings
from audit.model import Harness
from audit.run.calls import raw_memory
from audit.run.calls.raw_memory import Checksums
from audit.run.devices import tuned
from audit.run.devices.device import SessionDevice

POISONED_BLOCKS = 4
"""Freed blocks of the output's size to fill: the claimed code may allocate scratch memory before its output."""
MEMORY = ("plain", "traced", "reuse", "filled_nan", "poison_nan", "poison_number")
WORD_BYTES = 4
_LOADED: dict[Path, Any] = {}
"""The modules that this process has loaded, by the path of their library: types may not be registered twice."""
MOST_LAUNCHES = 200
"""The most launches of a call that are listed."""


class Cuda(SessionDevice):
    """The current GPU and one compiled module.

    Memory modes: `plain`, `reuse` and `traced` leave torch's caching allocator as it is; `traced` lists the kernels of
    every call. `filled_nan` has torch fill the results of `empty` with NaN; the poison modes fill freed blocks of the
    output's size with a pattern before a call.
    """

    def __init__(self, settings: CudaSettings | CudaPythonSettings) -> None:
        require_cuda()
        self._settings = settings
        self._memory = settings.memory
        if self._memory not in MEMORY:
            raise LookupError(f"unknown memory mode {self._memory}; known: {', '.join(MEMORY)}")
        self._pattern = settings.pattern
        self._checksums = Checksums()
        self._profile: Any = None
        self._launches: list[dict[str, Any]] = []

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """See `SessionDevice` and `entry_of`."""
        return entry_of(self._settings, entry, harness)

    def begin(self) -> None:
        """See `SessionDevice`. Undo the settings of an earlier session of this process."""
        torch.cuda.empty_cache()
        filled = self._memory == "filled_nan"
        torch._C._set_deterministic_algorithms(filled, warn_only=filled)  # the public one imports a compiler: seconds
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`."""
        return tensor.to("cuda")

    def checksum(self, tensor: torch.Tensor) -> int | None:
        """See `SessionDevice`."""
        return self._checksums.of(tensor)

    def before_call(self, output_bytes: Sequence[int]) -> None:
        """See `SessionDevice`. In a poison mode, fill the blocks that the allocator will hand out next."""
        if self._pattern is not None:
            for size in dict.fromkeys(output_bytes):
                _poison(size, self._pattern)
        torch.cuda.synchronize()
        _last_error()  # clear the error of earlier calls
        if self._memory == "traced":
            # the profiler inside torch.profiler, which spares seconds of imports
            self._profile = profile(use_device="cuda", use_cpu=False, use_kineto=True)
            self._profile.__enter__()

    def after_call(self) -> None:
        """See `SessionDevice`. Record a launch that the driver refused: claimed code may not check for it."""
        torch.cuda.synchronize()
        refused = _last_error()
        if refused is not None:
            self._launches.append({"kernel": "a kernel", "line": None, "grid": [], "block": [], "refused": refused})
        if self._profile is not None:
            self._profile.__exit__(None, None, None)
            self._launches += _kernels(self._profile)
            self._profile = None

    def tuned(self) -> list[dict[str, Any]]:
        """See `SessionDevice`."""
        return tuned.taken(tuned.of_this_process()) if self._memory == "traced" else []

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. Kernels are listed in the mode `traced`, refused launches always."""
        if self._profile is not None:  # the call raised
            self._profile.__exit__(None, None, None)
            self._profile = None
        launches, self._launches = self._launches, []
        return {"launches": launches, "reports": []}


def require_cuda() -> None:
    """Raise RuntimeError unless torch can use a GPU here."""
    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} sees no CUDA GPU; use --device emulated")


def entry_of(settings: CudaLibrary | CudaPython, entry: str, harness: Harness) -> Callable[..., Any]:
    """Return a function of a compiled variant, a module's in the harness's mode and dtype. Raises LookupError: the
    variant has no such function; lists its functions."""
    if isinstance(settings, CudaPython):
        return _entry_of_python(settings, entry, harness)
    library, binding, digests = settings.library, settings.binding, settings.digests
    if binding is None:
        loaded = vars(_module(library, settings.module, digests))
    else:
        loaded = _once(library, lambda: fast_load.load(library, binding=binding, digests=digests))
    functions: dict[str, Callable[..., Any]] = {
        name: each for name, each in loaded.items() if callable(each) and not name.startswith("_")
    }
    if entry not in functions:
        raise LookupError(f"no function {entry}; the extension has: {', '.join(functions) or 'none'}")
    return functions[entry]


def _once(library: Path, load: Callable[[], Any]) -> Any:
    if library not in _LOADED:
        _LOADED[library] = load()
    return _LOADED[library]


def _poison(size: int, pattern: int) -> None:
    """Fill blocks of that many bytes and free them: the caching allocator hands out the same memory next."""
    word = pattern - (1 << 32) if pattern >> 31 else pattern
    words = -(-size // WORD_BYTES)
    blocks = [torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(POISONED_BLOCKS)]
    values = torch.full((words,), word, dtype=torch.int32).view(torch.uint8)[:size]
    for block in blocks:
        block.copy_(values)


def _kernels(finished: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        file = Path(folder) / "trace.json"
        finished.export_chrome_trace(str(file))
        return launches_in(json.loads(file.read_text(encoding="utf-8")))


def _last_error() -> str | None:
    """Return the CUDA runtime's last error and clear it; synchronising does not report a refused launch."""
    runtime = raw_memory.runtime()
    if runtime is None:
        return None
    code = runtime.cudaGetLastError()
    if code == 0:
        return None
    runtime.cudaGetErrorString.restype = ctypes.c_char_p
    return str(runtime.cudaGetErrorString(code).decode("utf-8", "replace"))


def _entry_of_python(settings: CudaPython, entry: str, harness: Harness) -> Callable[..., Any]:
    """Return the function of that name, or a `ModelNew` in the harness's mode and dtype. Raises LookupError: the module
    has neither. Also any exception of the module itself."""
    os.environ.update(settings.environment)
    if settings.triton:
        tuned.keep(Path(settings.environment["TRITON_CACHE_DIR"]))
    if settings.extensions is not None:
        from torch.utils import cpp_extension  # reads the environment when it is imported

        plain = getattr(cpp_extension.load_inline, "plain", cpp_extension.load_inline)
        replace_load_inline(lambda _, key: _extension(settings, key), otherwise=plain)
    return function_of(
        settings.python,
        entry,
        init_inputs=settings.init_inputs,
        device="cuda",
        harness=harness,
        digests=settings.digests,
    )


def _extension(settings: CudaPython, key: str) -> Any | None:
    known = (settings.extensions or {}).get(key)
    if isinstance(known, str):
        raise RuntimeError(known)
    if known is None or settings.folder is None:
        return None
    return _module(settings.folder / known[0], known[1], settings.digests)


def _module(library: Path, name: str, digests: Mapping[Path, str]) -> Any:
    """Load a library as the module of that name; one without a name holds operators alone, and its path is returned."""

    def load() -> ModuleType | str:
        if not name:
            return str(ctypes.CDLL(str(sealed(library, digests))))
        loader = importlib.machinery.ExtensionFileLoader(name, str(sealed(library, digests)))
        spec = importlib.util.spec_from_loader(name, loader)
        assert spec is not None  # a loader was given
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    return _once(library, load)


def launches_in(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one entry a launch, in order of start, with the keys of an emulated launch and those of a GPU.

    Of more than MOST_LAUNCHES the first one of each kernel is kept, and then the earliest.

    Args:
        trace: the profiler's Chrome trace, times in microseconds.

    Returns:
        `kernel` (demangled), `line` (None: unknown on a GPU), `grid`, `block`, `shared_bytes`, `registers` a thread,
        `stream`, `microseconds`, `refused` (None: a refused launch leaves no kernel).
    """
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    ordered = sorted(kernels, key=lambda event: float(event["ts"]))
    first = {event["name"]: place for place, event in reversed([*enumerate(ordered)])}
    by_rank = sorted(range(len(ordered)), key=lambda place: (first[ordered[place]["name"]] != place, place))
    return [_launch(ordered[place]) for place in sorted(by_rank[:MOST_LAUNCHES])]


def _launch(event: dict[str, Any]) -> dict[str, Any]:
    details = event.get("args", {})
    return {
        "kernel": demangled(event["name"]),
        "line": None,
        "grid": details.get("grid"),
        "block": details.get("block"),
        "shared_bytes": details.get("shared memory"),
        "registers": details.get("registers per thread"),
        "stream": details.get("stream"),
        "microseconds": float(event["dur"]),
        "refused": None,
    }
