"""A `.py` variant on a GPU: what it builds from CUDA texts is compiled once, by torch's builder, in a child."""

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
from audit.build.emulated.cache import digests, fingerprint, made
from audit.build.names import FOLDERS
from audit.build.python.child import MANIFEST
from audit.build.python.source import RUNG, PythonSource, init_inputs, kept_alone
from audit.build.settings import CudaPython
from audit.model import BuildNote, Claim, SourceFile, Variant
from audit.model.errors import CompileError, Unsupported

KEPT = ("PATH", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "MAX_JOBS")
"""What of the builder's environment a session needs too: Triton and torch.compile look for programs there."""
KEEPS_TUNING = {"TRITON_CACHE_AUTOTUNING": "1"}
"""Triton writes the times of `triton.autotune` beside the kernels it compiled and takes that configuration again."""
CHILD = "audit.build.python.child"
LEFT: dict[str, Any] = {"loaded": False, "extensions": {}, "left": True}
"""Of a source after which nothing was noted any more."""


@dataclass(frozen=True)
class PythonBuilder:
    """Builds `.py` variants for the one GPU the code is for; `cache` may be shared by audits that run at once."""

    gpu: Gpu
    toolchain: Toolchain
    cache: Path

    def build(self, source: Path, variant: Variant, claim: Claim, *, level: str) -> CudaVariant:
        """Reads the source and, where it builds extensions, runs it once in a child so that they are built.

        Args:
            source: the `.py` file.
            variant: what it is.
            claim: whose entry is wanted, where the variant has none of its own.
            level: the name of the build for its note; Python has one way only.

        Raises:
            CompileError: it is not Python, or the builder refuses a CUDA text, or is not done in time, or it ends its
            process when it is loaded.
            Unsupported: loading it raises something else.
        """
        started = time.monotonic()
        alone = kept_alone(source)
        extends = PythonSource(alone.read_text(encoding="utf-8")).builds_extensions
        request = {"source": str(alone), "entry": claim.entry_of(variant), "init_inputs": list(init_inputs(source))}
        place, kept = self._extended(request) if extends else (None, True)
        note = BuildNote(
            variant=variant.name,
            optimisation=level,
            outcome="built",
            header_set=RUNG,
            compiler=self.toolchain.nvcc if extends else None,
            flags=(f"TORCH_CUDA_ARCH_LIST={self.gpu.arch}",) if extends else (),
            seconds=round(time.monotonic() - started, 2),
            from_cache=kept,
            reads=(SourceFile.of(source.name, alone.read_bytes()),),
        )
        return CudaVariant(note, self._loaded(request, place))

    def _extended(self, request: dict[str, Any]) -> tuple[Path, bool]:
        """The folder of what the source builds, and whether it was there already."""
        tools = self.toolchain
        made_by = [self.gpu.arch, tools.torch, str(tools.torch_cuda), tools.nvcc, sys.version.split()[0]]
        place = self.cache / "python" / f"built-{fingerprint([json.dumps(request), *made_by])}"
        env = environment(self.gpu.arch, tools)
        return place, made(place, lambda folder: _build(request, folder, env))

    def _loaded(self, request: dict[str, Any], place: Path | None) -> CudaPython:
        result = environment(self.gpu.arch, self.toolchain)
        own = self.cache / "python" / f"kept-{fingerprint([request['source'], self.gpu.arch, self.toolchain.torch])}"
        folders = {name: own / folder for name, folder in FOLDERS.items()}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        manifest = {} if place is None else json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        extensions = manifest.get("extensions")
        built = [place / one[0] for one in (extensions or {}).values() if place and isinstance(one, list)]
        return CudaPython(
            digests=digests(Path(request["source"]), *built),
            python=Path(request["source"]),
            init_inputs=request["init_inputs"],
            folder=place,
            extensions=extensions,
            environment={name: result[name] for name in KEPT}
            | KEEPS_TUNING
            | {name: str(one) for name, one in folders.items()},
        )


def _build(request: dict[str, Any], folder: Path, env: dict[str, str]) -> None:
    values = {**request, "folder": str(folder)}
    code, words = run_child(CHILD, values, env=env | {"TORCH_EXTENSIONS_DIR": str(folder)}, folder=folder)
    manifest = folder / MANIFEST
    seen = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else LEFT
    refused = [text for text in seen["extensions"].values() if isinstance(text, str)]
    if not seen["loaded"] and refused:
        raise CompileError(compiler_words(refused[-1]), rung=RUNG)
    if seen["left"]:
        raise CompileError(f"error: its process ended with code {code} while it was loaded", rung=RUNG)
    if not seen["loaded"]:
        last = (words.splitlines() or [f"its process ended with code {code}"])[-1]
        raise Unsupported(f"a source that does not load: {last}")
