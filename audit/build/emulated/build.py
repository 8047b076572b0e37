"""A CUDA source to a library for the emulated device: rewrite, compile on the lowest rung of headers that holds it."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.build.emulated import included, prepared, rewrite_limits, toolchain
from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.build.emulated.prepared import Rung, prepare
from audit.build.emulated.rewrite import operator_headers, rewrite
from audit.model import untrusted
from audit.model.errors import CompileError, Unsupported
from audit.review.cuda_source import CudaSource, parse
from audit.review.unsupported import unsupported

__all__ = ["EmulatedBuild", "build", "prepare"]

_SLOWER = {"O2": "", "O0": '#pragma GCC optimize("O0")\n'}
# Named one by one: -fsanitize must bring no library of its own, its callbacks are the runtime's.
_LINK = ("-shared", "-nodefaultlibs", "-Wl,-z,now,--as-needed", "-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc")
_RECIPE = "3"  # part of every cache key; counts changes to the way this module calls the compiler

_MISSING = re.compile(
    r"error: .*(?:not a member of|has not been declared|was not declared|does not name a|No such file|incomplete type"
    r"|is not a class|expected constructor|no matching function|invalid initialization of reference)"
)
_UNDECLARED = re.compile(r"[‘'](\w+)[’'] was not declared")
_LISTS = "at::ITensorListRef"
_TORCH_NAME = re.compile(r"\b(?:torch|at|c10|py|pybind11|ATen)\b|TORCH_|\bAT_|PYBIND11|cuemu::Convert")


@dataclass(frozen=True)
class EmulatedBuild:
    """A compiled source.

    Attributes:
        library: the shared library. It needs `runtime` loaded before it.
        rung: the header set it took.
        compiler: name, version, machine.
        seconds: of wall clock that the compilation took, also when it was not this call's.
        from_cache: nothing was compiled by this call.
        sha256: of the library.
    """

    library: Path
    runtime: Path
    rung: Rung
    source_sha256: str
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    sha256: str


def build(
    source_path: Path,
    *,
    optimisation: str = "O2",
    compute_capability: int = 75,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> EmulatedBuild:
    """Compile a source for the emulated device, or find it compiled.

    Args:
        source_path: a torch extension in one file; headers it includes in quotes may lie beside it.
        optimisation: "O2", or "O0" for an independent second build of the source's own functions.
        compute_capability: of the GPU the device stands for, e.g. 75.
        cache: a folder instead of the user's (see `audit.build.emulated.cache`).
        progress: told in a few words what is being compiled.

    Raises:
        BadInput: the source is missing or is no UTF-8.
        Unsupported: it uses what the emulated device does not model, or its headers are too large.
        CompileError: no rung compiles it.
    """
    if optimisation not in _SLOWER:
        raise ValueError(f"unknown optimisation {optimisation}; known: {', '.join(_SLOWER)}")
    tell = progress or (lambda _: None)
    text = untrusted.text(source_path)
    source = parse(text)
    for construct in unsupported(source):
        raise Unsupported(construct.construct, line=construct.line)
    translated = rewrite(source, name=source_path.name, compute_capability=compute_capability)
    translated = _SLOWER[optimisation] + translated
    beside = [part for header in included.headers(source_path, text) for part in header]
    key = fingerprint([_RECIPE, *toolchain.find().identity, *_LINK, prepared.headers_hash(), translated, *beside])
    target = (cache or cache_folder()) / "kernels" / f"{source_path.stem[:40]}-{key}"
    job = _Job(source, translated, source_path.resolve().parent, target, tell, cache)
    found = made(target, job.compile)
    return replace(_recorded(target, prepared.runtime(tell, folder=cache)), from_cache=found)


@dataclass(frozen=True)
class _Job:
    source: CudaSource
    translated: str
    source_folder: Path
    target: Path
    tell: Callable[[str], None]
    cache: Path | None

    def compile(self, unfinished: Path) -> None:
        """Climb the rungs until one holds the source, then write down how it went."""
        started = time.monotonic()
        rung: Rung = "micro"
        while (log := self._try(rung, unfinished)) is not None:
            higher = _next_rung(rung, log)
            if higher is None:
                raise CompileError(log, rung=rung)
            rung = higher
        tools = toolchain.find()
        library = unfinished / "kernel.so"
        note: dict[str, Any] = {
            "rung": rung,
            "source_sha256": hashlib.sha256(self.source.text.encode()).hexdigest(),
            "flags": [*tools.flags, *prepared.rung_flags(rung), *_LINK],
            "compiler": tools.version,
            "seconds": time.monotonic() - started,
            "sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
        }
        (unfinished / "build.json").write_text(json.dumps(note), encoding="utf-8")

    def _try(self, rung: Rung, unfinished: Path) -> str | None:
        """The compiler's log if it refuses the source on this rung."""
        header = prepared.header(rung, self.tell, folder=self.cache)
        self.tell(f"compiling {self.target.name.rpartition('-')[0]} against header set {rung}")
        operators = _operator_includes(self.source) if rung == "micro" else ""
        (unfinished / "kernel.cpp").write_text(operators + self.translated, encoding="utf-8")
        arguments = [*toolchain.find().flags, *prepared.rung_flags(rung), f"-iquote{self.source_folder}"]
        arguments += ["-include", str(header), "kernel.cpp", *_LINK, "-o", "kernel.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[header.parent, self.source_folder])
        return (_too_many_constants(unfinished / "kernel.so") or None) if succeeded else log


def _too_many_constants(library: Path) -> str:
    """What a GPU's compiler would say of the constants; empty if they fit."""
    size, most = rewrite_limits.constant_bytes(library), rewrite_limits.MOST_CONSTANT_BYTES
    return (
        f"error: {size:,} bytes of __constant__ data: a GPU has {most:,}, so nvcc refuses this source"
        if size > most
        else ""
    )


def _next_rung(rung: Rung, log: str) -> Rung | None:
    """Where to try again: only names of torch's or pybind's that were not found can be there on a higher rung."""
    missing = any(_MISSING.search(line) and _is_torch_name(line) for line in log.splitlines())
    if not missing or rung == prepared.RUNGS[-1] or toolchain.python_include() is None:
        return None
    return prepared.RUNGS[prepared.RUNGS.index(rung) + 1]


def _is_torch_name(line: str) -> bool:
    """Whether a message speaks of a name of torch's, or of one of its operators by its bare name."""
    bare = _UNDECLARED.search(line)
    operators = toolchain.find().torch / "include/ATen/ops"
    return bool(_TORCH_NAME.search(line)) or bool(bare and (operators / f"{bare[1]}.h").is_file())


def _operator_includes(source: CudaSource) -> str:
    """Headers of the operators it calls, which need the lists of tensors that the micro rung leaves out if one does."""
    folder = toolchain.find().torch / "include"
    names = [f"ATen/ops/{name}.h" for name in operator_headers(source)]
    headers = [name for name in names if (folder / name).is_file()]
    if any(_LISTS in (folder / name).read_text(encoding="utf-8") for name in headers):
        headers.insert(0, "ATen/core/IListRef.h")
    return "".join(f"#include <{name}>\n" for name in headers)


def _recorded(folder: Path, runtime: Path) -> EmulatedBuild:
    note = json.loads((folder / "build.json").read_text(encoding="utf-8"))
    note["flags"] = tuple(note["flags"])
    return EmulatedBuild(library=folder / "kernel.so", runtime=runtime, from_cache=False, **note)
