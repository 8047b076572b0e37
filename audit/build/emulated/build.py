"""Compile a CUDA source for the emulated device: rewrite it, and take the smallest header set that compiles it.

The preprocessor runs first. A library is made from its output alone, headers of the source included, which is also its
cache key. The output of a source is cached too, until a file in its folder changes.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from audit.build import dependencies
from audit.build.cache import cache_folder, fingerprint, made
from audit.build.emulated import compiler_log, imports, prepared, preprocess, ptx, refused, rewrite, toolchain
from audit.build.emulated.prepared import HeaderSet
from audit.build.emulated.preprocess import COMPILES, OWN, TEXT
from audit.build.settings import DEVICE_PREFIX
from audit.model import SourceFile, untrusted
from audit.model.errors import CompileError, Unsupported
from audit.review.cuda_source import CudaSource, parse
from audit.review.unsupported import unsupported

KEY = "rung"  # of the header set, in the files of caches
UNIT = "unit.json"
"""The file next to a preprocessed text: its header set (key `rung`), its library, and the files of the claim in it."""
MOST_CONSTANT_BYTES = 64 << 10
_SLOWER = {"O2": "", "O0": '#pragma GCC optimize("O0")\n'}
# Listed one by one: -fsanitize must add no library, since the runtime has its callbacks.
_COPIES = ("memcpy", "memmove", "memset")  # by the runtime, which checks their accesses
_CHRONO = ("_ZNSt6chrono3_V212steady_clock3nowEv", "_ZNSt6chrono3_V212system_clock3nowEv")
_CLOCKS = ("clock_gettime", "gettimeofday", "time", "clock", "nanosleep", *_CHRONO)  # see runtime/host_clock.cpp
_WRAPS = "-Wl," + ",".join(f"--wrap={name}" for name in (*_COPIES, *_CLOCKS))
_LIBRARIES = ("-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc")
_LINK = ("-shared", "-nodefaultlibs", "-Wl,-z,relro,-z,now,--as-needed", _WRAPS, *_LIBRARIES)
_RECIPE = "9"  # part of every cache key; counts changes to the way this module calls the compiler

_FOR_CPU = re.compile(r"\bTORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\s*\([^}]*?\bimpl\([^;]*\bkCPU\b")
_LISTS = "at::ITensorListRef"


@dataclass(frozen=True)
class EmulatedBuild:
    """A compiled source.

    Attributes:
        library: the shared library, to be loaded after `runtime`.
        reads: the source and the files of its folder that the compiler read for it.
        compiler: name, version, machine.
        seconds: the wall time of the compilation, also of an earlier call's.
        from_cache: whether this call compiled nothing.
        sha256: the library's.
    """

    library: Path
    runtime: Path
    header_set: HeaderSet
    reads: tuple[SourceFile, ...]
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    sha256: str


def build(
    source_path: Path, *, optimisation: str = "O2", compute_capability: int = 75, flags: tuple[str, ...] = ()
) -> EmulatedBuild:
    """Compile a source for the emulated device, or find it compiled.

    Args:
        source_path: a torch extension in one file; its own headers are in its folder or below.
        optimisation: "O2", or "O0" for an independent second build of the source's own functions.
        compute_capability: that of the modelled GPU, e.g. 75.
        flags: macros and folders of `-I`, within the source's.

    Raises:
        BadInput: the source is missing or is no UTF-8.
        Unsupported: the device does not model a construct, or the source reads a file outside of its folder.
        CompileError: no header set compiles it.
    """
    if optimisation not in _SLOWER:
        raise ValueError(f"unknown optimisation {optimisation}; known: {', '.join(_SLOWER)}")
    text = untrusted.text(source_path)
    source = parse(text)
    refused.require_closed_texts(source)
    defined = {flag.removeprefix("-D").partition("=")[0] for flag in flags if flag.startswith("-D")}
    for construct in unsupported(source, defined=defined):
        raise Unsupported(construct.construct, line=construct.line)
    refused.require_device_words(source)
    if (other := _FOR_CPU.search(source.masked)) is not None:  # its kCUDA is a kCPU here
        raise Unsupported("an operator that `impl` registers for kCPU", line=source.line_of(other.end()))
    prefix = prepared.sources().prefix
    translated = rewrite.rewrite(source, name=source_path.name, prefix=prefix)
    translated = _SLOWER[optimisation] + rewrite.defines(flags) + translated
    tools, folder = toolchain.find(), source_path.resolve().parent
    folders = [flag.removeprefix("-I") for flag in flags if flag.startswith("-I")]
    own_headers = rewrite.headers(source, folder / source_path.name, folders=folders, prefix=prefix)
    device_pass = f"#define {rewrite.architecture(prefix)} {compute_capability * 10}\n"
    texts = [prefix, device_pass, translated, *folders, *own_headers.values(), *dependencies.marks(folder)]
    key = fingerprint([_RECIPE, *tools.identity, *ptx.sources(), *texts])
    job = _Job(source, translated, own_headers, folder / source_path.name, folders, device_pass=device_pass)
    made(unit := cache_folder() / "units" / f"{source_path.stem[:40]}-{key}", job.preprocess)
    note = json.loads((unit / UNIT).read_text(encoding="utf-8"))
    job.kernel(target := cache_folder() / "kernels" / note["kernel"], unit / TEXT, note[KEY])
    reads = (SourceFile.of(source_path.name, text.encode()), *map(SourceFile.model_validate, note["reads"]))
    made_by = json.loads((target / "build.json").read_text(encoding="utf-8"))
    made_by["flags"], header_set = tuple(made_by["flags"]), made_by.pop(KEY)
    return EmulatedBuild(
        library=target / "kernel.so",
        runtime=prepared.runtime(),
        header_set=header_set,
        reads=reads,
        from_cache=not job.compiled,
        **made_by,
    )


class _Job:
    """The compilation of one source; `compiled` is whether the compiler ran."""

    def __init__(
        self,
        source: CudaSource,
        translated: str,
        own_headers: dict[str, str],
        path: Path,
        folders: list[str],
        *,
        device_pass: str,
    ) -> None:
        self._source, self._translated, self._own_headers = source, translated, own_headers
        self._path, self._folders, self._device_pass = path, folders, device_pass
        self.compiled = False

    def preprocess(self, unfinished: Path) -> None:
        """Try the header sets in order until one compiles the source; write its text, and the name of its library."""
        header_set: HeaderSet = "micro"
        while (log := self._try(header_set, unfinished)) is not None:
            larger = compiler_log.next_header_set(header_set, log)
            if larger is None:
                raise compiler_log.lacking(log) or CompileError(
                    compiler_log.two_types(log) + log, header_set=header_set
                )
            header_set = larger

    def kernel(self, target: Path, text: Path, header_set: HeaderSet) -> None:
        """Make the library of a preprocessed text. Raises CompileError."""
        made(target, lambda unfinished: self._compile(text, header_set, unfinished))

    def _try(self, header_set: HeaderSet, unfinished: Path) -> str | None:
        """Return the compiler's log if it refuses the source with this header set."""
        header, flags = prepared.header(header_set), self._flags(header_set)
        operators = _operator_includes(self._source) if header_set == "micro" else ""
        try:
            reads = self._preprocess(operators + self._translated, unfinished, header, flags)
            text = unfinished / TEXT
            self._check_words(text, header_set)
            key = fingerprint([_RECIPE, *toolchain.find().identity, *flags, *_LINK, text.read_bytes()])
            name = f"{self._path.stem[:40]}-{key}"
            self.kernel(cache_folder() / "kernels" / name, text, header_set)
        except CompileError as error:
            prefix = prepared.sources().prefix
            return error.log.replace(prefix, DEVICE_PREFIX).replace(prefix.upper(), DEVICE_PREFIX.upper())
        note = {KEY: header_set, "kernel": name, "reads": [one.model_dump() for one in reads]}
        (unfinished / UNIT).write_text(json.dumps(note), encoding="utf-8")
        return None

    def _preprocess(
        self, translated: str, folder: Path, header: Path, flags: tuple[str, ...]
    ) -> tuple[SourceFile, ...]:
        """Write the preprocessed text to a folder; a text with inline PTX is preprocessed again with the PTX header."""
        for path, changed in self._own_headers.items():
            (folder / OWN / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / OWN / path).write_text(changed, encoding="utf-8")
        named, first, text = prepared.sources(), [header], folder / TEXT
        read = partial(preprocess.preprocess, self._device_pass + translated, self._path, folder, folders=self._folders,
                       headers=first, flags=flags, ours=[named.folder])  # fmt: skip
        host, asked = "", rewrite.architecture(named.prefix)
        if asked in translated or any(asked in each for each in self._own_headers.values()):
            preprocess.preprocess(translated, *read.args[1:], **read.keywords)
            host = text.read_text(encoding="utf-8", errors="replace")
        reads = read()
        own = [self._path, *(self._path.parent / one.file for one in reads)]
        if any(preprocess.has_markers(path.read_text(encoding="utf-8", errors="replace")) for path in own):
            raise Unsupported("line markers of a preprocessor")  # they would name files for `check_host` to read
        if host:
            device = text.read_text(encoding="utf-8", errors="replace")
            preprocess.check_host(self._source, self._path, host=host, device=device)
        if ptx.has_assembly(text.read_text(encoding="utf-8", errors="replace")):
            first.append(Path(named.prefix, "ptx.h"))
            reads = read()
            changed = ptx.translated(text.read_text(encoding="utf-8", errors="surrogateescape"), prefix=named.prefix)
            text.write_text(changed, encoding="utf-8", errors="surrogateescape")
        return reads

    def _flags(self, header_set: HeaderSet) -> tuple[str, ...]:
        return (*prepared.sources().flags, *toolchain.find().flags, *prepared.header_set_flags(header_set))

    def _check_words(self, text: Path, header_set: HeaderSet) -> None:
        words = text.read_text(encoding="utf-8", errors="replace")
        if found := preprocess.refused(words, python=header_set != "micro"):
            raise Unsupported(found[0], line=found[1])

    def _reserved(self, library: Path) -> str:
        name = imports.reserved(library)
        return refused.reserved(name, self._source) if name else ""

    def _check_imports(self, library: Path, header_set: HeaderSet) -> None:
        if found := imports.refused(library, prefix=prepared.sources().prefix, python=header_set != "micro"):
            name, why = found
            used = re.search(rf"\b{re.escape(name)}\b", self._source.masked)
            raise Unsupported(why, line=self._source.line_of(used.start()) if used else 0)

    def _compile(self, text: Path, header_set: HeaderSet, unfinished: Path) -> None:
        started, tools = time.monotonic(), toolchain.find()
        header = prepared.header(header_set)
        self.compiled = True
        (unfinished / TEXT).write_bytes(text.read_bytes())
        arguments = [*self._flags(header_set), *COMPILES, *_LINK, "-o", "kernel.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[header.parent])
        library = unfinished / "kernel.so"
        if not succeeded or (log := _too_many_constants(library) or self._reserved(library)):
            raise CompileError(log, header_set=header_set)
        self._check_imports(library, header_set)
        note: dict[str, Any] = {
            KEY: header_set,
            "flags": [*self._flags(header_set), *_LINK],
            "compiler": tools.version,
            "seconds": time.monotonic() - started,
            "sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
        }
        (unfinished / "build.json").write_text(json.dumps(note), encoding="utf-8")


def _too_many_constants(library: Path) -> str:
    """Return the error of a GPU's compiler about too many constants; empty if they fit."""
    size = imports.constant_bytes(library)
    if size <= MOST_CONSTANT_BYTES:
        return ""
    return f"error: {size:,} bytes of __constant__ data: a GPU has {MOST_CONSTANT_BYTES:,}, so nvcc refuses this source"


def _operator_includes(source: CudaSource) -> str:
    """Return includes for the called operators, with the lists of tensors that `micro` lacks if one needs them."""
    folder = toolchain.find().torch / "include"
    names = [f"ATen/ops/{name}.h" for name in rewrite.operator_headers(source)]
    headers = [name for name in names if (folder / name).is_file()]
    if any(_LISTS in (folder / name).read_text(encoding="utf-8") for name in headers):
        headers.insert(0, "ATen/core/IListRef.h")
    alone = f"{prepared.sources().prefix.upper()}_OPERATORS_ALONE"  # without headers that those of operators do not use
    return "\n".join([f"#define {alone}", *(f"#include <{name}>" for name in headers), f"#undef {alone}\n"])
