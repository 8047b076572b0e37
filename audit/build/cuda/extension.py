"""Compile a `.cu` source to a Python module for a GPU as published, with a cache keyed by all it depends on."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audit.build import dependencies
from audit.build.cache import cache_folder, fingerprint, made
from audit.build.cuda import compile
from audit.build.cuda.compile import HEADER_SET, checked_flags, compile_module, compiler_words, environment
from audit.build.cuda.fast_toolchain import standard_of
from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import CudaToolchain, tool
from audit.build.dependencies import listed, own_files, torch_headers, wheels
from audit.build.emulated import toolchain as host
from audit.build.settings import TORCH_MACROS
from audit.model import SourceFile, untrusted
from audit.model.errors import CompileError, Unsupported
from audit.sandbox import command

MANIFEST = "built.json"
_LISTING_LIMIT_S = 60.0
FOLDER, RULE, NOTE = "claim", "rule.d", "read.json"
_MACROS = ("-DTORCH_EXTENSION_NAME=audited", "-DTORCH_API_INCLUDE_EXTENSION_H", *TORCH_MACROS)
"""The macros of torch's builder."""


@dataclass(frozen=True)
class CudaBuild:
    """A compiled module: `library` is `<module>.so`, `reads` the files of the claim in it, the source included, `note`
    a check that was impossible, or empty."""

    library: Path
    module: str
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    note: str
    reads: tuple[SourceFile, ...]


def build(source: Path, flags: tuple[str, ...], *, gpu: Gpu, toolchain: CudaToolchain) -> CudaBuild:
    """Compile the unmodified source for that GPU alone with nvcc's published flags, or take it from the cache.

    Raises:
        BadInput: a flag with a target or a path.
        CompileError: refused, not for this GPU, or not done in time.
        Unsupported: it reads a file that is neither the claim's nor the compiler's.
    """
    flags = checked_flags(flags)
    own = copied(source, flags, arch=gpu.arch, toolchain=toolchain)
    key = build_key(own, flags, gpu=gpu, toolchain=toolchain)
    module, entry = f"audited_{key}", cache_folder() / "cuda" / key
    started = time.monotonic()

    def make(folder: Path) -> None:
        private = folder / "torch"
        private.mkdir()
        library = compile_module(own.source, flags, module=module, arch=gpu.arch, toolchain=toolchain, folder=private)
        note = _verified(library, gpu=gpu, toolchain=toolchain)
        library.rename(folder / library.name)
        (folder / MANIFEST).write_text(json.dumps({"source": source.name, "flags": flags, "note": note}) + "\n")
        shutil.rmtree(private)

    from_cache = made(entry, make)
    note = json.loads((entry / MANIFEST).read_text(encoding="utf-8"))["note"]
    return CudaBuild(
        library=entry / f"{module}.so",
        module=module,
        flags=(*flags, f"TORCH_CUDA_ARCH_LIST={gpu.arch}"),
        compiler=toolchain.nvcc,
        seconds=time.monotonic() - started,
        from_cache=from_cache,
        note=note,
        reads=own.reads,
    )


def build_key(source: Copied, flags: tuple[str, ...], *, gpu: Gpu, toolchain: CudaToolchain) -> str:
    """Return the hash of all that the module depends on: sources, flags, target, torch, its CUDA, nvcc and Python."""
    files = [source.source.name, *(part for one in source.reads for part in (one.file, one.sha256))]
    made_by = [gpu.arch, toolchain.torch, str(toolchain.torch_cuda), toolchain.nvcc, sys.version.split()[0]]
    return fingerprint([*files, *flags, *made_by])


def target_note(listing: str, compute_capability: int) -> str:
    """Return "" if `cuobjdump --list-elf` lists the target, a note if it lists none; else raise CompileError."""
    built = sorted({int(number) for number in re.findall(r"\.sm_(\d+)[a-z]?\.", listing)})
    if not built:
        return "the library holds no device code"
    if compute_capability not in built:
        names = ", ".join(f"sm_{number}" for number in built)
        raise CompileError(f"error: built for {names}, not for sm_{compute_capability}", header_set=HEADER_SET)
    return ""


def _verified(library: Path, *, gpu: Gpu, toolchain: CudaToolchain) -> str:
    if (program := tool(toolchain, "cuobjdump")) is None:
        return "target not verified: the toolkit has no cuobjdump"
    words = [str(program), "--list-elf", str(library)]
    listed = command.run(words, folder=library.parent, limit_s=_LISTING_LIMIT_S)
    return target_note(listed.out, gpu.compute_capability)


@dataclass(frozen=True)
class Copied:
    """A copied source, and the files of the claim that it reads, itself included."""

    source: Path
    reads: tuple[SourceFile, ...]


def copied(source: Path, flags: tuple[str, ...], *, arch: str, toolchain: CudaToolchain) -> Copied:
    """Ask nvcc which files it reads, in its passes for host and device, and copy those of the claim.

    The copies are kept until a file in the source's folder changes. `arch` is the one target, as "9.0a".

    Raises:
        CompileError: nvcc's preprocessor refuses the source.
        Unsupported: it reads a file that is neither the claim's nor the compiler's.
    """
    path = source.parent.resolve() / source.name
    made_by = (arch, toolchain.torch, toolchain.nvcc)
    key = fingerprint([path.name, *flags, *made_by, *dependencies.marks(path.parent)])
    entry = cache_folder() / "cuda-sources" / f"{path.stem[:40]}-{key}"
    made(entry, lambda folder: _copy(path, flags, folder, arch=arch, toolchain=toolchain))
    note = json.loads((entry / NOTE).read_text(encoding="utf-8"))
    return Copied(entry / FOLDER / path.name, tuple(map(SourceFile.model_validate, note)))


def _copy(source: Path, flags: tuple[str, ...], folder: Path, *, arch: str, toolchain: CudaToolchain) -> None:
    standard = [] if any("std=" in flag for flag in flags) else [f"-std={standard_of(toolchain.torch)}"]
    given = [f"-I{source.parent / flag[2:]}" if flag.startswith("-I") else flag for flag in flags]
    arguments = [f"-arch=sm_{arch.replace('.', '')}", *given, *standard, *_MACROS]
    arguments += [*(f"-isystem={each}" for each in torch_headers()), str(source)]
    done = command.run(
        [str(toolchain.cuda_home / "bin/nvcc"), "-M", "-MF", RULE, *arguments],
        folder=folder,
        limit_s=compile.BUILD_LIMIT_S,
        reads=[source.parent],
        environment=environment(arch, toolchain),
    )
    if done.stopped:
        raise CompileError(f"error: the build {done.stopped.removeprefix('it ')}", header_set=HEADER_SET)
    if done.code:
        words = compiler_words(done.out + done.err)
        raise CompileError(words or f"error: the preprocessor ended with code {done.code}", header_set=HEADER_SET)
    rule = (folder / RULE).read_text(encoding="utf-8", errors="surrogateescape")
    own = own_files(listed(rule), source=source, build=folder, toolchain=[*_known(toolchain)])
    for one in own:
        data = untrusted.data(source.parent / one.file, limit_bytes=untrusted.SOURCE_BYTES, empty=True)
        if SourceFile.of(one.file, data) != one:
            raise Unsupported(f"a source whose {one.file} changes while it is read")
        (to := folder / FOLDER / one.file).parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
    (folder / NOTE).write_text(json.dumps([one.model_dump() for one in own]), encoding="utf-8")


def _known(toolchain: CudaToolchain) -> Iterator[Path]:
    """Yield the folders whose headers are not the claim's."""
    yield from torch_headers()
    yield from _of_compiler(toolchain)
    yield toolchain.cuda_home
    yield (toolchain.cuda_home / "bin/nvcc").resolve().parents[1]
    yield from wheels()


@functools.cache
def _of_compiler(toolchain: CudaToolchain) -> tuple[Path, ...]:
    """Return the folders of headers of nvcc and of its host compiler, which need not be the first `g++`."""
    words = [str(toolchain.cuda_home / "bin/nvcc"), "-E", "-Xcompiler", "-v", "-x", "cu", os.devnull]
    variables = {**environment("", toolchain), "LC_ALL": "C"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=variables)
    return host.searched(done.stderr)
