"""What the fast build compiles with: g++, torch's and CUDA's headers, NVRTC; and what is made once of them."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from audit.build.cuda import toolchain as cuda_toolchain
from audit.build.emulated import toolchain
from audit.build.emulated.cache import fingerprint, is_whole, made
from audit.model.errors import AuditError, Unsupported
from audit.sandbox import command


class NotFast(Unsupported):
    """The fast build cannot take the source; that says nothing about the kernel.

    Args:
        construct: what it cannot take, or the compiler's words.
        line: where it stands, 0 where no line is known.
    """

    def __init__(self, construct: str, *, line: int = 0) -> None:
        place = f" (line {line})" if line else ""
        AuditError.__init__(self, f"the fast build does not take {construct}{place}; use the published build")
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
    """Folders, versions and flags; `host_flags` must be the same for the precompiled header and what uses it."""

    compiler: str
    torch: Path
    torch_version: str
    nvrtc: Path
    cuda_include: Path
    host_flags: tuple[str, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """What a compiled file depends on besides its sources."""
        nvrtc = self.nvrtc.resolve()
        return (self.compiler, self.torch_version, str(nvrtc), str(nvrtc.stat().st_size), *self.host_flags, _headers())

    @property
    def standard(self) -> str:
        """The C++ standard torch's extension builder asks nvcc for."""
        return standard_of(self.torch_version)

    @property
    def operators(self) -> frozenset[str]:
        """Operators that have a header of their own in torch."""
        return _operators(self.torch)


def standard_of(torch_version: str) -> str:
    """The C++ standard the extension builder of that torch asks nvcc for."""
    release = tuple(int(part) for part in torch_version.split("+", maxsplit=1)[0].split(".")[:2])
    return "c++20" if release >= _NEWER_STANDARD else "c++17"


@functools.cache
def find() -> FastToolchain:
    """The toolchain of this Python and this machine. Raises NotFast naming what is missing."""
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


def prepare(folder: Path) -> None:
    """Makes the precompiled header and the binding's library; nothing happens if they exist."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        for job in (pool.submit(header, folder), pool.submit(binding, folder)):
            job.result()


def header(folder: Path) -> Path:
    """The file a host part includes first; its precompiled form lies beside it. Raises NotFast if torch has changed."""
    tools = find()

    def make(unfinished: Path) -> None:
        (unfinished / PRELUDE).write_text(_PRELUDE_TEXT, encoding="utf-8")
        arguments = [*tools.host_flags, "-x", "c++-header", PRELUDE, "-o", f"{PRELUDE}.gch"]
        _run(arguments, unfinished)

    target = _header_folder(folder)
    made(target, make)
    return target / PRELUDE


def header_now(folder: Path, beside: Path) -> Path:
    """The precompiled header if it is there, else a plain one written into `beside`: one build is faster without."""
    if is_whole(finished := _header_folder(folder)):
        return finished / PRELUDE
    (beside / PRELUDE).write_text(_PRELUDE_TEXT, encoding="utf-8")
    return beside / PRELUDE


def binding(folder: Path) -> Path:
    """The library that calls a module's functions for Python: the emulated device's, without the device."""
    tools = find()
    source = toolchain.RUNTIME_SOURCES / "bind.cpp"
    target = folder / "fast-binding" / fingerprint([*tools.identity, source.read_bytes()])

    def make(unfinished: Path) -> None:
        _run([*tools.host_flags, "-shared", str(source), "-o", "libcufast_binding.so"], unfinished)

    made(target, make)
    return target / "libcufast_binding.so"


def listing(library: Path) -> str:
    """The symbol table of a library, demangled."""
    tool = ["nm", "-C", "--defined-only", str(library)]
    return command.run(tool, folder=library.parent, limit_s=_LISTING_LIMIT_S).out


def _header_folder(folder: Path) -> Path:
    return folder / "fast-headers" / fingerprint(find().identity)


def _run(arguments: list[str], folder: Path) -> None:
    succeeded, log = toolchain.compile_file(arguments, folder=folder)
    if not succeeded:
        errors = [line for line in log.splitlines() if "error" in line]
        raise NotFast(f"this torch: {(errors or ['no output'])[0].strip()}")


@functools.cache
def _operators(torch: Path) -> frozenset[str]:
    """Thousands of files, and no build may change them."""
    return frozenset(path.stem for path in (torch / "include/ATen/ops").glob("*.h"))


@functools.cache
def _headers() -> str:
    files = [path for folder in (INCLUDE, toolchain.INCLUDE) for path in sorted(folder.rglob("*")) if path.is_file()]
    return fingerprint(part for path in files for part in (path.name, path.read_bytes()))


def cuda_include_of(torch: Path) -> Path | None:
    """The folder of CUDA's headers, None where there is none."""
    wheels = sorted((torch.parent / "nvidia").glob("*/include"))
    places = [home / "include" for home in _homes()] + wheels
    return next((place for place in places if (place / "cuda_runtime.h").is_file()), None)


def nvrtc_of(torch: Path) -> Path | None:
    """NVRTC, None where there is none: the toolkit's, which is nvcc's twin, before the one torch brought along."""
    places = [(home, "lib64/libnvrtc.so.[0-9]*") for home in _homes()]
    places += [(torch.parent / "nvidia", "*/lib/libnvrtc.so.[0-9]*")]
    found = [path for folder, pattern in places for path in sorted(folder.glob(pattern))]
    return next(iter(found), None)


def _homes() -> list[Path]:
    """The toolkit's folder, and where it is by default: an nvcc on PATH may be a link without a toolkit around it."""
    home = cuda_toolchain.cuda_home()
    return [*([home] if home else []), cuda_toolchain.DEFAULT_CUDA_HOME]
