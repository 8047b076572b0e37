"""A CUDA source to a library for the emulated device: rewrite, compile on the lowest rung of headers that holds it.

The preprocessor runs first. A library is kept by the text that it gives, headers of the source included, and made from
that text alone. What a source gives is kept too, for as long as nothing in its folder changes.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from audit.build import dependencies
from audit.build.emulated import expanded, headers, imports, prepared, ptx, rewrite_limits, toolchain
from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.build.emulated.prepared import Rung, prepare
from audit.build.emulated.preprocess import COMPILES, OWN, TEXT, preprocess
from audit.build.emulated.rewrite import operator_headers, rewrite
from audit.build.names import DEVICE_PREFIX
from audit.model import SourceFile, untrusted
from audit.model.errors import CompileError, Unsupported
from audit.review.cuda_source import CudaSource, parse
from audit.review.unsupported import unsupported

__all__ = ["EmulatedBuild", "build", "prepare"]

UNIT = "unit.json"
"""Beside a preprocessed text: the rung it is for, the library made of it, and the files of the claim in it."""
_SLOWER = {"O2": "", "O0": '#pragma GCC optimize("O0")\n'}
# Named one by one: -fsanitize must bring no library of its own, its callbacks are the runtime's.
_COPIES = "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"  # to the runtime, which checks what they touch
_LIBRARIES = ("-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc")
_LINK = ("-shared", "-nodefaultlibs", "-Wl,-z,relro,-z,now,--as-needed", _COPIES, *_LIBRARIES)
_RECIPE = "5"  # part of every cache key; counts changes to the way this module calls the compiler

_MISSING = re.compile(
    r"error: .*(?:not a member of|has not been declared|was not declared|does not name a|No such file|incomplete type"
    r"|is not a class|expected constructor|no matching function|invalid initialization of reference)"
)
_UNDECLARED = re.compile(r"[‘'](\w+)[’'] was not declared")
_OF_A_LIBRARY = re.compile(r"(?::(?P<line>\d+))?:\d+: error: .*(?:\b(?P<cub>cub::)|[‘'](?P<name>cublas\w+))")
_LISTS = "at::ITensorListRef"
_TORCH_NAME = re.compile(r"\b(?:torch|at|c10|py|pybind11|ATen)\b|TORCH_|\bAT_|PYBIND11|cuemu::Convert")


@dataclass(frozen=True)
class EmulatedBuild:
    """A compiled source.

    Attributes:
        library: the shared library. It needs `runtime` loaded before it.
        rung: the header set it took.
        reads: the source and the files of its folder that the compiler read for it.
        compiler: name, version, machine.
        seconds: of wall clock that the compilation took, also when it was not this call's.
        from_cache: nothing was compiled by this call.
        sha256: of the library.
    """

    library: Path
    runtime: Path
    rung: Rung
    reads: tuple[SourceFile, ...]
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
        source_path: a torch extension in one file; headers of its own lie in its folder or below.
        optimisation: "O2", or "O0" for an independent second build of the source's own functions.
        compute_capability: of the GPU the device stands for, e.g. 75.
        cache: a folder instead of the user's (see `audit.build.emulated.cache`).
        progress: shows in a few words what is being compiled.

    Raises:
        BadInput: the source is missing or is no UTF-8.
        Unsupported: it uses what the emulated device does not model, or reads a file that is not known to be its own.
        CompileError: no rung compiles it.
    """
    if optimisation not in _SLOWER:
        raise ValueError(f"unknown optimisation {optimisation}; known: {', '.join(_SLOWER)}")
    tell = progress or (lambda _: None)
    text = untrusted.text(source_path)
    source = parse(text)
    for construct in unsupported(source):
        raise Unsupported(construct.construct, line=construct.line)
    own = cache or cache_folder()
    prefix = prepared.sources(own).prefix
    translated = rewrite(source, name=source_path.name, compute_capability=compute_capability, prefix=prefix)
    translated = _SLOWER[optimisation] + translated
    tools, folder = toolchain.find(), source_path.resolve().parent
    beside = headers.rewritten(source, folder / source_path.name, prefix=prefix)
    texts = [prefix, translated, *beside.values(), *dependencies.marks(folder)]
    key = fingerprint([_RECIPE, *tools.identity, *ptx.sources(), *texts])
    job = _Job(source, translated, beside, folder / source_path.name, own, tell)
    made(unit := own / "units" / f"{source_path.stem[:40]}-{key}", job.climb)
    note = json.loads((unit / UNIT).read_text(encoding="utf-8"))
    job.kernel(target := own / "kernels" / note["kernel"], unit / TEXT, note["rung"])
    reads = (SourceFile.of(source_path.name, text.encode()), *map(SourceFile.model_validate, note["reads"]))
    runtime = prepared.runtime(tell, folder=cache)
    return replace(_recorded(target, runtime), from_cache=not job.compiled, reads=reads)


class _Job:
    """One source on its way through preprocessor and compiler; `compiled` says whether the compiler ran."""

    def __init__(
        self,
        source: CudaSource,
        translated: str,
        beside: dict[str, str],
        path: Path,
        cache: Path,
        tell: Callable[[str], None],
    ) -> None:
        self._source, self._translated, self._beside = source, translated, beside
        self._path, self._cache, self._tell = path, cache, tell
        self.compiled = False

    def climb(self, unfinished: Path) -> None:
        """Climb the rungs until one holds the source; leave the text there, and the name of the library made of it."""
        rung: Rung = "micro"
        while (log := self._try(rung, unfinished)) is not None:
            higher = _next_rung(rung, log)
            if higher is None:
                raise _lacking(log) or CompileError(log, rung=rung)
            rung = higher

    def kernel(self, target: Path, text: Path, rung: Rung) -> None:
        """Have the library of a preprocessed text made. Raises CompileError."""
        made(target, lambda unfinished: self._compile(text, rung, unfinished))

    def _try(self, rung: Rung, unfinished: Path) -> str | None:
        """The compiler's log if it refuses the source on this rung."""
        header, flags = prepared.header(rung, self._tell, folder=self._cache), self._flags(rung)
        operators = _operator_includes(self._source) if rung == "micro" else ""
        try:
            reads = self._preprocess(operators + self._translated, unfinished, header, flags)
            text = unfinished / TEXT
            self._check_words(text, [self._path, *(self._path.parent / one.file for one in reads)])
            key = fingerprint([_RECIPE, *toolchain.find().identity, *flags, *_LINK, text.read_bytes()])
            name = f"{self._path.stem[:40]}-{key}"
            self.kernel(self._cache / "kernels" / name, text, rung)
        except CompileError as error:
            prefix = prepared.sources(self._cache).prefix
            return error.log.replace(prefix, DEVICE_PREFIX).replace(prefix.upper(), DEVICE_PREFIX.upper())
        note = {"rung": rung, "kernel": name, "reads": [one.model_dump() for one in reads]}
        (unfinished / UNIT).write_text(json.dumps(note), encoding="utf-8")
        return None

    def _preprocess(
        self, translated: str, folder: Path, header: Path, flags: tuple[str, ...]
    ) -> tuple[SourceFile, ...]:
        """Leave the preprocessed text in a folder; only one with inline PTX is read twice, and with its header."""
        for place, changed in self._beside.items():
            (folder / OWN / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / OWN / place).write_text(changed, encoding="utf-8")
        named, first, text = prepared.sources(self._cache), [header], folder / TEXT
        read = partial(preprocess, translated, self._path, folder, headers=first, flags=flags, ours=[named.folder])
        reads = read()
        if ptx.has_assembly(text.read_text(encoding="utf-8", errors="replace")):
            first.append(Path(ptx.header(named.prefix)))
            reads = read()
            changed = ptx.translated(text.read_text(encoding="utf-8", errors="surrogateescape"), prefix=named.prefix)
            text.write_text(changed, encoding="utf-8", errors="surrogateescape")
        return reads

    def _flags(self, rung: Rung) -> tuple[str, ...]:
        return (*prepared.sources(self._cache).flags, *toolchain.find().flags, *prepared.rung_flags(rung))

    def _check_words(self, text: Path, own: list[Path]) -> None:
        if any(expanded.has_markers(path.read_text(encoding="utf-8", errors="replace")) for path in own):
            raise Unsupported("line markers of a preprocessor")
        if found := expanded.refused(text.read_text(encoding="utf-8", errors="replace")):
            raise Unsupported(found[0], line=found[1])

    def _check_imports(self, library: Path) -> None:
        if found := imports.refused(library, prefix=prepared.sources(self._cache).prefix):
            name, why = found
            place = re.search(rf"\b{re.escape(name)}\b", self._source.masked)
            raise Unsupported(why, line=self._source.line_of(place.start()) if place else 0)

    def _compile(self, text: Path, rung: Rung, unfinished: Path) -> None:
        """Make the library, and write down how it went."""
        started, tools = time.monotonic(), toolchain.find()
        header = prepared.header(rung, self._tell, folder=self._cache)
        self._tell(f"compiling {self._path.stem} against header set {rung}")
        self.compiled = True
        (unfinished / TEXT).write_bytes(text.read_bytes())
        arguments = [*self._flags(rung), *COMPILES, *_LINK, "-o", "kernel.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[header.parent])
        library = unfinished / "kernel.so"
        if not succeeded or (log := _too_many_constants(library)):
            raise CompileError(log, rung=rung)
        self._check_imports(library)
        note: dict[str, Any] = {
            "rung": rung,
            "flags": [*self._flags(rung), *_LINK],
            "compiler": tools.version,
            "seconds": time.monotonic() - started,
            "sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
        }
        (unfinished / "build.json").write_text(json.dumps(note), encoding="utf-8")


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


def _lacking(log: str) -> Unsupported | None:
    """A form of a call that our headers of CUB or cuBLAS have not, if the compiler's errors are about those."""
    if not (found := _OF_A_LIBRARY.search(log)):
        return None
    library = "CUB" if found["cub"] else found["name"]
    return Unsupported(f"a form of {library} that the emulated device lacks", line=int(found["line"] or 0))


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
    return EmulatedBuild(library=folder / "kernel.so", runtime=runtime, reads=(), from_cache=False, **note)
