"""Copy the files of a claim that nvcc reads for a source to a folder, from which alone it is compiled."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from audit.build import dependencies
from audit.build.cuda import compile
from audit.build.cuda.compile import HEADER_SET, compiler_words, environment
from audit.build.cuda.fast_toolchain import standard_of
from audit.build.cuda.toolchain import Toolchain
from audit.build.dependencies import listed, own_files
from audit.build.emulated import toolchain as host
from audit.build.emulated.cache import fingerprint, made
from audit.build.names import TORCH_MACROS
from audit.model import SourceFile, untrusted
from audit.model.errors import CompileError, Unsupported
from audit.sandbox import command

FOLDER, RULE, NOTE = "claim", "rule.d", "read.json"
_MACROS = ("-DTORCH_EXTENSION_NAME=audited", "-DTORCH_API_INCLUDE_EXTENSION_H", *TORCH_MACROS)
"""The macros of torch's builder."""


@dataclass(frozen=True)
class Copied:
    """A copied source, and the files of the claim that it reads, itself included."""

    source: Path
    reads: tuple[SourceFile, ...]


def copied(source: Path, flags: tuple[str, ...], *, arch: str, toolchain: Toolchain, cache: Path) -> Copied:
    """Ask nvcc which files it reads, in its passes for host and device, and copy those of the claim.

    Args:
        source: the `.cu` file.
        flags: nvcc's, as published.
        arch: the one target, as "9.0a".
        toolchain: the compiler.
        cache: keeps the copies until a file in the source's folder changes.

    Raises:
        CompileError: nvcc's preprocessor refuses the source.
        Unsupported: it reads a file that is neither the claim's nor the compiler's.
    """
    path = source.parent.resolve() / source.name
    made_by = (arch, toolchain.torch, toolchain.nvcc)
    key = fingerprint([path.name, *flags, *made_by, *dependencies.marks(path.parent)])
    entry = cache / "cuda-sources" / f"{path.stem[:40]}-{key}"
    made(entry, lambda folder: _copy(path, flags, folder, arch=arch, toolchain=toolchain))
    note = json.loads((entry / NOTE).read_text(encoding="utf-8"))
    return Copied(entry / FOLDER / path.name, tuple(map(SourceFile.model_validate, note)))


def _copy(source: Path, flags: tuple[str, ...], folder: Path, *, arch: str, toolchain: Toolchain) -> None:
    standard = [] if any("std=" in flag for flag in flags) else [f"-std={standard_of(toolchain.torch)}"]
    arguments = [f"-arch=sm_{arch.replace('.', '')}", *flags, *standard, *_MACROS]
    arguments += [*(f"-isystem={each}" for each in _headers()), str(source)]
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


def _headers() -> list[Path]:
    """Return the include folders of torch's builder."""
    spec = find_spec("torch")
    torch = [Path(spec.origin).parent / "include"] if spec and spec.origin else []
    return [*torch, *(each / "torch/csrc/api/include" for each in torch), Path(sysconfig.get_paths()["include"])]


def _known(toolchain: Toolchain) -> Iterator[Path]:
    """Yield the folders whose headers are not the claim's."""
    yield from _headers()
    yield from _of_compiler(toolchain)
    yield toolchain.cuda_home
    yield (toolchain.cuda_home / "bin/nvcc").resolve().parents[1]
    spec = find_spec("nvidia")
    yield from map(Path, (spec.submodule_search_locations if spec else None) or ())


@functools.cache
def _of_compiler(toolchain: Toolchain) -> tuple[Path, ...]:
    """Return the folders of headers of nvcc and of its host compiler, which need not be the first `g++`."""
    words = [str(toolchain.cuda_home / "bin/nvcc"), "-E", "-Xcompiler", "-v", "-x", "cu", os.devnull]
    variables = {**environment("", toolchain), "LC_ALL": "C"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=variables)
    return host.searched(done.stderr)
