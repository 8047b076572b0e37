"""A `.py` variant on a GPU: torch's builder compiles its extensions of CUDA texts once, in a child."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.build.cuda.compile import compiler_words, environment, run_child
from audit.build.cuda.device import CudaVariant
from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import Toolchain
from audit.build.emulated.cache import cache_folder, digests, fingerprint, made
from audit.build.names import FOLDERS
from audit.build.python.child import MANIFEST
from audit.build.python.dropped_targets import may_be_left_out, oldest
from audit.build.python.source import HEADER_SET, PythonSource, init_inputs, isolated
from audit.build.settings import CudaPython
from audit.model import BuildNote, Claim, SourceFile, Variant
from audit.model.errors import CompileError, Unsupported

KEPT = ("PATH", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "MAX_JOBS")
"""Variables of the builder's environment that a session needs too: Triton and torch.compile look for programs there."""
KEEPS_TUNING = {"TRITON_CACHE_AUTOTUNING": "1"}
"""The variable that has Triton cache the choice of `triton.autotune` with its kernels."""
CHILD = "audit.build.python.child"
LEFT: dict[str, Any] = {"loaded": False, "extensions": {}, "dropped": [], "left": True}
"""The manifest where the child wrote none."""
NO_REASON = "Error building extension"
"""All that torch raises where a source asked for a verbose build."""


@dataclass(frozen=True)
class PythonBuilder:
    """Builds `.py` variants for one GPU."""

    gpu: Gpu
    toolchain: Toolchain

    def build(self, source: Path, variant: Variant, claim: Claim, *, level: str) -> CudaVariant:
        """Parse the source and, where it builds extensions, run it once in a child to build them; `level` is for the
        note.

        Raises:
            CompileError: the source is not Python, the builder refuses a CUDA text or is not done in time, or the
                source exits its process when it is loaded.
            Unsupported: loading it raises another exception.
        """
        started = time.monotonic()
        alone = isolated(source)
        parsed = PythonSource(alone.read_text(encoding="utf-8"))
        extends = parsed.builds_extensions
        least = oldest(self.toolchain.cuda_home / "bin" / "nvcc") if extends else 0
        named = {*claim.gpus, *(one.gpu for one in claim.speedup)}
        request = {"source": str(alone), "entry": claim.entry_of(variant), "init_inputs": list(init_inputs(source)),
                   "oldest": least, "leave_out": may_be_left_out(named)}  # fmt: skip
        extensions, from_cache = self._extended(request) if extends else (None, True)
        note = BuildNote(
            variant=variant.name,
            optimisation=level,
            outcome="built",
            header_set=HEADER_SET,
            compiler=self.toolchain.nvcc if extends else None,
            flags=(f"TORCH_CUDA_ARCH_LIST={self.gpu.arch}",) if extends else (),
            seconds=round(time.monotonic() - started, 2),
            from_cache=from_cache,
            log=self._left_out(extensions),
            reads=(SourceFile.of(source.name, alone.read_bytes()),),
        )
        loaded = self._loaded(request, extensions).model_copy(update={"triton": "triton" in parsed.imports})
        return CudaVariant(note=note, loaded=loaded)

    def _left_out(self, entry: Path | None) -> str:
        """Return a sentence on the flags that were left out; empty where none was."""
        dropped = [] if entry is None else json.loads((entry / MANIFEST).read_text(encoding="utf-8"))["dropped"]
        if not dropped:
            return ""
        return f"built for sm_{self.gpu.compute_capability} {without(dropped, self.toolchain.nvcc)}"

    def _extended(self, request: dict[str, Any]) -> tuple[Path, bool]:
        """Return the folder of the source's extensions, and whether it existed already."""
        tools = self.toolchain
        made_by = [self.gpu.arch, tools.torch, str(tools.torch_cuda), tools.nvcc, sys.version.split()[0]]
        entry = cache_folder() / "python" / f"built-{fingerprint([json.dumps(request), *made_by])}"
        env = environment(self.gpu.arch, tools)
        return entry, made(entry, lambda folder: _build(request, folder, env, tools.nvcc))

    def _loaded(self, request: dict[str, Any], entry: Path | None) -> CudaPython:
        result = environment(self.gpu.arch, self.toolchain)
        own = (
            cache_folder() / "python" / f"kept-{fingerprint([request['source'], self.gpu.arch, self.toolchain.torch])}"
        )
        folders = {name: own / folder for name, folder in FOLDERS.items()}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        manifest = {} if entry is None else json.loads((entry / MANIFEST).read_text(encoding="utf-8"))
        extensions = manifest.get("extensions")
        built = [entry / one[0] for one in (extensions or {}).values() if entry and isinstance(one, list)]
        return CudaPython(
            digests=digests(Path(request["source"]), *built),
            python=Path(request["source"]),
            init_inputs=request["init_inputs"],
            folder=entry,
            extensions=extensions,
            environment={name: result[name] for name in KEPT}
            | KEEPS_TUNING
            | {name: str(one) for name, one in folders.items()},
        )


def without(dropped: list[str], nvcc: str) -> str:
    """Return the words on flags that were left out."""
    return f"without the published {', '.join(dict.fromkeys(dropped))}: an architecture that {nvcc} no longer has"


def _refusal(seen: dict[str, Any], text: str, words: str, *, left_out: bool, nvcc: str) -> str:
    """Return the compiler's words; those of a verbose build are in the child's own output, before its traceback. A flag
    for an architecture that nvcc no longer has is named first."""
    said = compiler_words(text)
    if said.startswith(NO_REASON):
        said = words.partition("Traceback")[0].strip() or said
    if left_out or not seen["dropped"]:
        return said
    return (
        f"error: {', '.join(dict.fromkeys(seen['dropped']))} asks for an architecture that {nvcc} no longer has\n{said}"
    )


def _build(request: dict[str, Any], folder: Path, env: dict[str, str], nvcc: str) -> None:
    values = {**request, "folder": str(folder)}
    code, words = run_child(CHILD, values, env=env | {"TORCH_EXTENSIONS_DIR": str(folder)}, folder=folder)
    manifest = folder / MANIFEST
    seen = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else LEFT
    refused = [text for text in seen["extensions"].values() if isinstance(text, str)]
    if not seen["loaded"] and refused:
        said = _refusal(seen, refused[-1], words, left_out=request["leave_out"], nvcc=nvcc)
        raise CompileError(said, header_set=HEADER_SET)
    if seen["left"]:
        raise CompileError(f"error: its process ended with code {code} while it was loaded", header_set=HEADER_SET)
    if not seen["loaded"]:
        last = (words.splitlines() or [f"its process ended with code {code}"])[-1]
        raise Unsupported(f"a source that does not load: {last}")
