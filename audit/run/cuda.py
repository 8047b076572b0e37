"""Runs in a child: a GPU's side of a session."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.autograd.profiler import profile

from audit.build.cuda import fast_load
from audit.build.settings import CudaLibrary, CudaPython, CudaPythonSettings, CudaSettings
from audit.model import Harness
from audit.run import raw_writes
from audit.run.kernel_trace import launches_in

POISONED_BLOCKS = 4
"""Freed blocks of the output's size that are filled: the claim may take scratch memory before its output."""
MEMORY = ("plain", "traced", "reuse", "filled_nan", "poison_nan", "poison_number")
WORD_BYTES = 4


class Cuda:
    """The current GPU and one compiled module.

    Memory modes: `plain` and `reuse` leave torch's caching allocator as it is, and so does `traced`, which lists the
    kernels of every call; `filled_nan` has torch fill whatever `empty` returns with NaN; the poisons fill freed blocks
    of the output's size with a pattern before a call.
    """

    def __init__(self, settings: CudaSettings | CudaPythonSettings) -> None:
        require_cuda()
        self._settings = settings
        self._memory = settings.memory
        if self._memory not in MEMORY:
            raise LookupError(f"unknown memory mode {self._memory}; known: {', '.join(MEMORY)}")
        self._pattern = settings.pattern
        self._profile: Any = None
        self._launches: list[dict[str, Any]] = []

    def load(self, entry: str, harness: Harness) -> Callable[..., Any]:
        """See `SessionDevice`. Raises LookupError naming the functions the module has."""
        return entry_of(self._settings, entry, harness)

    def begin(self) -> None:
        """See `SessionDevice`. Undoes what an earlier session of this process asked for."""
        torch.cuda.empty_cache()
        filled = self._memory == "filled_nan"
        torch._C._set_deterministic_algorithms(filled, warn_only=filled)  # the public one imports a compiler: seconds
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        """See `SessionDevice`."""
        return tensor.to("cuda")

    def before_call(self, output_bytes: int) -> None:
        """See `SessionDevice`. Fills the blocks the allocator will hand out next, if so asked."""
        if self._pattern is not None:
            _poison(output_bytes, self._pattern)
        torch.cuda.synchronize()
        _last_error()  # whatever came before is not this call's
        if self._memory == "traced":
            self._profile = _profiler()
            self._profile.__enter__()

    def after_call(self) -> None:
        """See `SessionDevice`. A launch the driver refused is remembered: kernels need not check for it."""
        torch.cuda.synchronize()
        refused = _last_error()
        if refused is not None:
            self._launches.append({"kernel": "a kernel", "line": None, "grid": [], "block": [], "refused": refused})
        if self._profile is not None:
            self._profile.__exit__(None, None, None)
            self._launches += _kernels(self._profile)
            self._profile = None

    def write_counts(self, tensor: torch.Tensor) -> bytes:  # noqa: ARG002
        """See `SessionDevice`. Empty: a GPU does not count writes."""
        return b""

    def trace(self) -> dict[str, Any]:
        """See `SessionDevice`. Kernels are listed in the mode `traced`, refused launches always."""
        if self._profile is not None:  # the call raised, so nobody collected
            self._profile.__exit__(None, None, None)
            self._profile = None
        launches, self._launches = self._launches, []
        return {"launches": launches, "reports": []}


def require_cuda() -> None:
    """Raises RuntimeError unless torch can use a GPU here."""
    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} sees no CUDA GPU; use --device emulated")


def entry_of(settings: CudaLibrary | CudaPython, entry: str, harness: Harness) -> Callable[..., Any]:
    """Return a function of a compiled variant, a module's in the harness's mode and dtype.

    Raises:
        LookupError: it has no such function; names those it has.
    """
    if isinstance(settings, CudaPython):
        from audit.run.python_cuda import entry_of as entry_of_python  # only a `.py` variant needs it

        return entry_of_python(settings, entry, harness)
    functions = _functions(settings.library, settings.module, settings.binding)
    if entry not in functions:
        raise LookupError(f"no function {entry}; the extension has: {', '.join(functions) or 'none'}")
    return functions[entry]


@cache
def _functions(library: Path, module: str, binding: Path | None) -> dict[str, Callable[..., Any]]:
    """What a library offers; loaded once a process, since a module may not register its types twice."""
    if binding is not None:
        return fast_load.load(library, binding=binding)
    spec = importlib.util.spec_from_file_location(module, library)
    if spec is None or spec.loader is None:
        raise ImportError(f"{library.name}: no Python module")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    names = [name for name in dir(loaded) if callable(getattr(loaded, name)) and not name.startswith("_")]
    return {name: getattr(loaded, name) for name in names}


def _poison(size: int, pattern: int) -> None:
    """Fills blocks of that many bytes and frees them: the caching allocator hands out the same memory next."""
    word = pattern - (1 << 32) if pattern >> 31 else pattern
    words = -(-size // WORD_BYTES)
    blocks = [torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(POISONED_BLOCKS)]
    values = torch.full((words,), word, dtype=torch.int32).view(torch.uint8)[:size]
    for block in blocks:
        block.copy_(values)


def _profiler() -> Any:
    """What torch.profiler is made of, without the seconds of imports that its start brings along."""
    return profile(use_device="cuda", use_cpu=False, use_kineto=True)


def _kernels(finished: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        file = Path(folder) / "trace.json"
        finished.export_chrome_trace(str(file))
        return launches_in(json.loads(file.read_text(encoding="utf-8")))


def _last_error() -> str | None:
    """What the CUDA runtime holds as its last error, then cleared; synchronising does not tell of a refused launch."""
    runtime = raw_writes.runtime()
    if runtime is None:
        return None
    code = runtime.cudaGetLastError()
    if code == 0:
        return None
    runtime.cudaGetErrorString.restype = ctypes.c_char_p
    return str(runtime.cudaGetErrorString(code).decode("utf-8", "replace"))
