"""A `.py` variant on a GPU: torch's builder compiles its extensions of CUDA texts once, in a child.

The child is `python -m audit.build.python.cuda REQUEST`, see `main`. A source may ask nvcc for an architecture that the
nvcc at hand no longer has, as `-arch=sm_70`: such flags are left out, or named in the refusal.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from audit.build.cache import cache_folder, digests, fingerprint, made
from audit.build.cuda.compile import compiler_words, environment, run_child
from audit.build.cuda.device import CudaVariant
from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import CudaToolchain
from audit.build.python.source import HEADER_SET, PythonSource, init_inputs, isolated
from audit.build.settings import FOLDERS, CudaPython
from audit.model import BuildNote, Claim, SourceFile, Variant
from audit.model.errors import CompileError, Unsupported

KEPT = ("PATH", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "MAX_JOBS")
"""Variables of the builder's environment that a session needs too: Triton and torch.compile look for programs there."""
KEEPS_TUNING = {"TRITON_CACHE_AUTOTUNING": "1"}
"""The variable that has Triton cache the choice of `triton.autotune` with its kernels."""
MANIFEST = "built.json"
LEFT: dict[str, Any] = {"loaded": False, "extensions": {}, "dropped": [], "left": True}
"""The manifest where the child wrote none."""
NO_REASON = "Error building extension"
"""All that torch raises where a source asked for a verbose build."""


@dataclass(frozen=True)
class PythonBuilder:
    """Builds `.py` variants for one GPU."""

    gpu: Gpu
    toolchain: CudaToolchain

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
    code, words = run_child(
        "audit.build.python.cuda", values, env=env | {"TORCH_EXTENSIONS_DIR": str(folder)}, folder=folder
    )
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


_OPTIONS = ("-arch", "-code", "-gencode", "--gpu-architecture", "--gpu-code", "--generate-code")
_TARGET = re.compile(r"\b(?:sm|compute)_(\d+)[a-z]?\b")

_OLDER_GPU = re.compile(
    r"\b(?:G?V100S?|[GT]?P100|P4|P40|M40|M60|K[248]0|GTX ?(?:[789]|10)\d\d|TITAN|Xavier|Volta|Pascal|Maxwell|Kepler)\b",
    re.IGNORECASE,
)
"""Names of GPUs older than Turing, the first that nvcc 13 has."""


@cache
def oldest(nvcc: Path) -> int:
    """Return the oldest architecture that this nvcc has, 75 for sm_75; 0 where it does not say."""
    try:
        done = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return min((int(one) for one in _TARGET.findall(done.stdout)), default=0)


def parted(flags: Sequence[str], least: int) -> tuple[list[str], list[str]]:
    """Return the flags without those whose architectures are all older than `least`, and these, each as one text."""
    kept: list[str] = []
    dropped: list[str] = []
    left = iter(flags)
    for flag in left:
        both = [flag, *([next(left, "")] if flag in _OPTIONS else ())]
        targets = [int(one) for one in _TARGET.findall(" ".join(both))]
        if flag.startswith(_OPTIONS) and targets and max(targets) < least:
            dropped.append(" ".join(both))
        else:
            kept += both
    return kept, dropped


def may_be_left_out(named: Iterable[str]) -> bool:
    """Return whether a claim names no GPU that an nvcc of today may no longer have."""
    return not any(_OLDER_GPU.search(name) for name in named)


def main() -> None:
    """In the child: load a `.py` variant with a `load_inline` that records its results.

    The request is JSON: `source`, `entry`, `init_inputs`, `oldest` (nvcc's oldest architecture), `leave_out` (whether
    flags for older ones are left out), and `folder`, which gets `built.json` with `loaded`, true if the entry was
    found; `extensions`, for each `load_inline` by key either `[library, name]`, the library's path in the folder and
    its module, "" for a library of operators alone, or
    the builder's refusal as a text; `dropped`, the flags for older architectures; and `left`, true if the source exited
    this process. An exception of the source ends this process and is in its log.
    """
    from torch.utils import cpp_extension

    from audit.build.cache import key_of
    from audit.build.python.load import function_of
    from audit.model import Harness

    request = json.loads(sys.argv[1])
    folder = Path(request["folder"])
    plain: Any = cpp_extension.load_inline
    extensions: dict[str, Any] = {}
    dropped: list[str] = []
    values = {"loaded": False, "extensions": extensions, "dropped": dropped, "left": False}

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, *more: Any, **named: Any) -> Any:
        key = key_of(cpp_sources, cuda_sources, named.get("functions"))
        kept, older = parted(named.get("extra_cuda_cflags") or (), request["oldest"])
        dropped.extend(older)
        if older and request["leave_out"]:
            named["extra_cuda_cflags"] = kept
        try:
            module = plain(name, cpp_sources, cuda_sources, *more, **named)
        except (RuntimeError, ImportError) as error:
            extensions[key] = str(error)
            raise
        operators = isinstance(module, str)  # of `is_python_module=False`: the library's path
        if file := module if operators else getattr(module, "__file__", None):
            extensions[key] = [str(Path(file).relative_to(folder)), "" if operators else module.__name__]
        return module

    cpp_extension.load_inline = load_inline
    try:
        made = {"init_inputs": request["init_inputs"], "device": "cuda", "harness": Harness()}
        function_of(Path(request["source"]), request["entry"], **made)
        values["loaded"] = True
    except SystemExit:
        values["left"] = True
        raise
    finally:
        (folder / MANIFEST).write_text(json.dumps(values), encoding="utf-8")


if __name__ == "__main__":
    main()
