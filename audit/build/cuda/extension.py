"""Compile a `.cu` source to a Python module for a GPU as published, with a cache keyed by all it depends on."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from audit.build.cuda.compile import HEADER_SET, checked_flags, compile_module
from audit.build.cuda.copied import Copied, copied
from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import Toolchain
from audit.build.emulated.cache import fingerprint, made
from audit.model import SourceFile
from audit.model.errors import CompileError
from audit.sandbox import command

MANIFEST = "built.json"
_LISTING_LIMIT_S = 60.0


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


def build(source: Path, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain, cache: Path) -> CudaBuild:
    """Compile the unmodified source for that GPU, or take it from the cache.

    Args:
        source: the `.cu` file; its own headers are in its folder or below.
        flags: nvcc's, in order, as published.
        gpu: the only target.
        toolchain: the compiler.
        cache: folder of finished builds; parallel audits may share it.

    Raises:
        BadInput: a flag with a target or a path.
        CompileError: refused, not for this GPU, or not done in time.
        Unsupported: it reads a file that is neither the claim's nor the compiler's.
    """
    flags = checked_flags(flags)
    own = copied(source, flags, arch=gpu.arch, toolchain=toolchain, cache=cache)
    key = build_key(own, flags, gpu=gpu, toolchain=toolchain)
    module, entry = f"audited_{key}", cache / "cuda" / key
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


def build_key(source: Copied, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain) -> str:
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


def _verified(library: Path, *, gpu: Gpu, toolchain: Toolchain) -> str:
    if toolchain.cuobjdump is None:
        return "target not verified: the toolkit has no cuobjdump"
    tool = [str(toolchain.cuobjdump), "--list-elf", str(library)]
    listed = command.run(tool, folder=library.parent, limit_s=_LISTING_LIMIT_S)
    return target_note(listed.out, gpu.compute_capability)
