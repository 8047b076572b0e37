"""The tools of the fast build: g++, torch's and CUDA's headers, NVRTC, and the files made once from them."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from audit.build.cache import cache_folder, fingerprint, is_whole, made
from audit.build.cuda import toolchain as cuda_toolchain
from audit.build.emulated import toolchain
from audit.model.errors import AuditError, Unsupported
from audit.sandbox import command


class NotFast(Unsupported):
    """The fast build or one of its compilers refuses a source; nothing is known about the kernel."""

    def __init__(self, construct: str, *, line: int = 0) -> None:
        at = f" (line {line})" if line else ""
        AuditError.__init__(self, f"the fast build does not take {construct}{at}; use the published build")
        self.construct = construct
        self.line = line


PRELUDE = "prelude.h"
_PRELUDE_TEXT = '#include "cufast/prelude.h"\n'
INCLUDE = Path(__file__).parent / "fast_include"
_COMPILE = ("-std=c++20", "-O1", "-fPIC", "-w", "-fno-gnu-unique", "-fno-plt", "-fvisibility=hidden")
_LISTING_LIMIT_S = 60.0
_NEWER_STANDARD = (2, 12)
"""The torch release from which its extension builder asks nvcc for C++20."""


@dataclass(frozen=True)
class FastToolchain:
    """Folders, versions and flags; `host_flags` must be the same for the precompiled header and its users."""

    compiler: str
    torch: Path
    torch_version: str
    nvrtc: Path
    cuda_include: Path
    host_flags: tuple[str, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """The dependencies of a compiled file in addition to its sources."""
        nvrtc = self.nvrtc.resolve()
        return (self.compiler, self.torch_version, str(nvrtc), str(nvrtc.stat().st_size), *self.host_flags, _headers())


def standard_of(torch_version: str) -> str:
    """Return the C++ standard of that torch's extension builder."""
    release = tuple(int(part) for part in torch_version.split("+", maxsplit=1)[0].split(".")[:2])
    return "c++20" if release >= _NEWER_STANDARD else "c++17"


@functools.cache
def find() -> FastToolchain:
    """Return the toolchain of this Python and this machine. Raises NotFast with the missing part."""
    host = toolchain.find()
    include = cuda_include_of(host.torch)
    nvrtc = nvrtc_of(host.torch)
    if include is None:
        raise NotFast("a machine without CUDA's headers (cuda_runtime.h); install the CUDA toolkit or set CUDA_HOME")
    if nvrtc is None:
        raise NotFast("a machine without NVRTC (libnvrtc.so); install the CUDA toolkit or torch for CUDA")
    headers = host.torch / "include"
    folders = [f"-I{INCLUDE}", f"-isystem{include}", f"-isystem{headers}", "-idirafter", str(toolchain.INCLUDE)]
    flags = (*_COMPILE, *folders)
    return FastToolchain(host.version, host.torch, host.torch_version, nvrtc, include, flags)


def prepare() -> None:
    """Make the precompiled header and the binding's library, unless they exist. Raises NotFast if this machine cannot.
    Builds need not wait for it: without the precompiled header they read torch's headers themselves."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        for job in (pool.submit(header), pool.submit(binding)):
            job.result()


def header() -> Path:
    """Return the first include of a host part, with its precompiled form next to it. Raises NotFast."""
    tools = find()

    def make(unfinished: Path) -> None:
        (unfinished / PRELUDE).write_text(_PRELUDE_TEXT, encoding="utf-8")
        arguments = [*tools.host_flags, "-x", "c++-header", PRELUDE, "-o", f"{PRELUDE}.gch"]
        _run(arguments, unfinished)

    target = _header_folder()
    made(target, make)
    return target / PRELUDE


def header_now(build: Path) -> Path:
    """Return the precompiled header if it exists, else a plain one written to `build`: one build is faster without."""
    if is_whole(finished := _header_folder()):
        return finished / PRELUDE
    (build / PRELUDE).write_text(_PRELUDE_TEXT, encoding="utf-8")
    return build / PRELUDE


def binding() -> Path:
    """Return the library that calls a module's functions for Python, which the emulated device has too."""
    tools = find()
    source = toolchain.RUNTIME_SOURCES / "bind.cpp"
    target = cache_folder() / "fast-binding" / fingerprint([*tools.identity, source.read_bytes()])

    def make(unfinished: Path) -> None:
        _run([*tools.host_flags, "-shared", str(source), "-o", "libcufast_binding.so"], unfinished)

    made(target, make)
    return target / "libcufast_binding.so"


def listing(library: Path) -> str:
    """Return the demangled symbol table of a library."""
    tool = ["nm", "-C", "--defined-only", str(library)]
    return command.run(tool, folder=library.parent, limit_s=_LISTING_LIMIT_S).out


def run_nvrtc(  # noqa: PLR0913
    source: Path,
    expressions: Sequence[str],
    image: Path,
    *,
    library: Path,
    headers: Path | None,
    options: Sequence[str],
    limit_s: float,
) -> command.Done:
    """Compile a device part in a child; see `fast_nvrtc`. `headers` is the folder of CUDA's."""
    include = [f"-I{INCLUDE}", *([f"-I{headers}", f"-I{headers}/cccl"] if headers else [])]
    request = {
        "library": str(library),
        "source": str(source),
        "options": [*options, *include],
        "expressions": list(expressions),
        "image": str(image),
    }
    reads = [library.parent, library.resolve().parent, *([headers] if headers else [])]
    words = [sys.executable, "-m", "audit.build.cuda.fast_nvrtc", json.dumps(request)]
    return command.run(words, folder=image.parent, limit_s=limit_s, reads=reads)


def _header_folder() -> Path:
    return cache_folder() / "fast-headers" / fingerprint(find().identity)


def _run(arguments: list[str], folder: Path) -> None:
    succeeded, log = toolchain.compile_file(arguments, folder=folder)
    if not succeeded:
        errors = [line for line in log.splitlines() if "error" in line]
        raise NotFast(f"this torch: {(errors or ['no output'])[0].strip()}")


@functools.cache
def operators(torch: Path) -> frozenset[str]:
    """Return the operators with a header of their own in torch: thousands of files, which do not change."""
    return frozenset(path.stem for path in (torch / "include/ATen/ops").glob("*.h"))


@functools.cache
def _headers() -> str:
    files = [path for folder in (INCLUDE, toolchain.INCLUDE) for path in sorted(folder.rglob("*")) if path.is_file()]
    return fingerprint(part for path in files for part in (path.name, path.read_bytes()))


def cuda_include_of(torch: Path) -> Path | None:
    """Return the folder of CUDA's headers, None where there is none."""
    wheels = sorted((torch.parent / "nvidia").glob("*/include"))
    folders = [home / "include" for home in _toolkits()] + wheels
    return next((folder for folder in folders if (folder / "cuda_runtime.h").is_file()), None)


def nvrtc_of(torch: Path) -> Path | None:
    """Return NVRTC, None where there is none: the toolkit's, which has nvcc's version, else torch's."""
    patterns = [(home, "lib64/libnvrtc.so.[0-9]*") for home in _toolkits()]
    patterns += [(torch.parent / "nvidia", "*/lib/libnvrtc.so.[0-9]*")]
    found = [path for folder, pattern in patterns for path in sorted(folder.glob(pattern))]
    return next(iter(found), None)


def _toolkits() -> list[Path]:
    """Return the toolkit's folder and the default one: an nvcc on PATH may be a link outside of a toolkit."""
    home = cuda_toolchain.cuda_home()
    return [*([home] if home else []), cuda_toolchain.DEFAULT_CUDA_HOME]
