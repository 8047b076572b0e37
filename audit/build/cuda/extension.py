"""A `.cu` source to a Python module for a GPU, compiled as published and kept by the hash of all it depends on."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from audit.build.cuda.compile import RUNG, checked_flags, compile_module
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
    what could not be checked about it, or empty."""

    library: Path
    module: str
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    note: str
    reads: tuple[SourceFile, ...]


def build(source: Path, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain, cache: Path) -> CudaBuild:
    """Compiles the unmodified source for that GPU, or takes it from the cache.

    Args:
        source: the `.cu` file; headers of its own lie in its folder or below.
        flags: for nvcc, in order, as published.
        gpu: the only GPU the code is for.
        toolchain: what compiles it.
        cache: folder of finished builds; may be shared by audits that run at once.

    Raises:
        BadInput: a flag that names a target or a path.
        CompileError: refused, not for this GPU, or not done in time.
        Unsupported: it reads a file that is neither the claim's nor the compiler's.
    """
    flags = checked_flags(flags)
    own = copied(source, flags, arch=gpu.arch, toolchain=toolchain, cache=cache)
    key = build_key(own, flags, gpu=gpu, toolchain=toolchain)
    module, place = f"audited_{key}", cache / "cuda" / key
    started = time.monotonic()

    def make(folder: Path) -> None:
        private = folder / "torch"
        private.mkdir()
        library = compile_module(own.source, flags, module=module, arch=gpu.arch, toolchain=toolchain, folder=private)
        note = _verified(library, gpu=gpu, toolchain=toolchain)
        library.rename(folder / library.name)
        (folder / MANIFEST).write_text(json.dumps({"source": source.name, "flags": flags, "note": note}) + "\n")
        shutil.rmtree(private)

    kept = made(place, make)
    note = json.loads((place / MANIFEST).read_text(encoding="utf-8"))["note"]
    return CudaBuild(
        library=place / f"{module}.so",
        module=module,
        flags=(*flags, f"TORCH_CUDA_ARCH_LIST={gpu.arch}"),
        compiler=toolchain.nvcc,
        seconds=time.monotonic() - started,
        from_cache=kept,
        note=note,
        reads=own.reads,
    )


def build_key(source: Copied, flags: tuple[str, ...], *, gpu: Gpu, toolchain: Toolchain) -> str:
    """Names everything the module depends on: sources, flags, target, torch, its CUDA, nvcc and Python."""
    files = [source.source.name, *(part for one in source.reads for part in (one.file, one.sha256))]
    made_by = [gpu.arch, toolchain.torch, str(toolchain.torch_cuda), toolchain.nvcc, sys.version.split()[0]]
    return fingerprint([*files, *flags, *made_by])


def target_note(listing: str, compute_capability: int) -> str:
    """Empty if `cuobjdump --list-elf` names that target, a note if it names none; another one raises CompileError."""
    built = sorted({int(number) for number in re.findall(r"\.sm_(\d+)[a-z]?\.", listing)})
    if not built:
        return "the library holds no device code"
    if compute_capability not in built:
        names = ", ".join(f"sm_{number}" for number in built)
        raise CompileError(f"error: built for {names}, not for sm_{compute_capability}", rung=RUNG)
    return ""


def _verified(library: Path, *, gpu: Gpu, toolchain: Toolchain) -> str:
    if toolchain.cuobjdump is None:
        return "target not verified: the toolkit has no cuobjdump"
    tool = [str(toolchain.cuobjdump), "--list-elf", str(library)]
    listed = command.run(tool, folder=library.parent, limit_s=_LISTING_LIMIT_S)
    return target_note(listed.out, gpu.compute_capability)
