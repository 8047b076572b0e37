"""Runs in a session: load a fast build's library as Python functions, with its kernels bound to their device code."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from audit.build.cache import checked, sealed
from audit.build.emulated import library as bound
from audit.build.settings import DEVICE_PREFIX, FAST_MANIFEST, IMAGE, OPENER


def load(library: Path, *, binding: Path, digests: Mapping[Path, str]) -> dict[str, Callable[..., Any]]:
    """Return the extension's functions by name. Exceptions of C++ become Python's of the same kind.

    Raises:
        OSError: the library needs an undefined symbol.
        RuntimeError: no GPU, or the driver refuses the device part.
    """
    torch.cuda.init()  # type: ignore[no-untyped-call]
    for path in _needed():
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(sealed(binding, digests)), mode=ctypes.RTLD_GLOBAL)
    held = sealed(library, digests)
    host = ctypes.CDLL(str(held))
    _bind(host, library.parent, digests)
    return bound.load(held, "micro", prefix=DEVICE_PREFIX)


def _bind(host: ctypes.CDLL, folder: Path, digests: Mapping[Path, str]) -> None:
    manifest = json.loads(checked(folder / FAST_MANIFEST, digests))
    if not manifest["joined"]:
        return
    handle = ctypes.c_void_p()
    _checked(host.cufast_open(checked(folder / IMAGE, digests), ctypes.byref(handle)), "its device part")
    opener = ctypes.cast(getattr(host, OPENER), ctypes.c_void_p).value or 0
    start = opener - manifest["opener"]
    for name, is_variable, offsets in manifest["joined"]:
        for offset in offsets:
            address = ctypes.c_void_p(start + offset)
            _checked(host.cufast_bind(handle, name.encode(), address, ctypes.c_bool(is_variable)), name)


def _checked(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"the fast build cannot load {what}: CUDA error {code}; use the published build")


def _needed() -> list[Path]:
    """Return the libraries that this one needs and torch has loaded privately: torch's parts and the CUDA runtime."""
    own = Path(torch.__file__).parent / "lib"
    parts = [own / name for name in ("libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so")]
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    mapped = {line.partition("/")[1] + line.partition("/")[2] for line in lines}
    return [*parts, *(Path(path) for path in sorted(mapped) if Path(path).name.startswith("libcudart.so"))]
