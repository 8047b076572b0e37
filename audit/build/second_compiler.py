"""Does the compiler a source is written for refuse it too? Asked about the claimed kernel alone, after a failed build.

The emulated device compiles with headers of its own, so its refusal alone does not count: nvcc parses the whole unit
with torch's headers, compiles its kernels and assembles them, but does not run them. On a GPU the published build is
torch's own, so its log counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from audit.build.cuda.compile import HEADER_SET, compiler_words
from audit.build.cuda.toolchain import cuda_home, parse_nvcc
from audit.build.dependencies import torch_folder, torch_headers
from audit.build.emulated.rewrite import defines
from audit.build.python.source import PythonSource
from audit.build.settings import TORCH_MACROS
from audit.model import BuildNote, Variant
from audit.model.errors import AuditError, BadInput, CompileError
from audit.model.finding import DeviceKind
from audit.model.run_directory import Scratch
from audit.sandbox import command

LIMIT_S = 300.0
"""A refusal takes 60 s for torch's headers on one core, longer under load."""
VERSION_LIMIT_S = 60.0
NEWEST = 90
"""The least target: a source for a newer GPU is not refused because of an older one."""
FLAGS = (
    "-cubin", "-std=c++20", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda",
    "-DTORCH_EXTENSION_NAME=audited", "-o", "unit.cubin",
)  # fmt: skip
OF_THE_MACHINE = re.compile(
    r"No such file or directory|Permission denied|cannot open source file|nvcc fatal|unsupported GNU|catastrophic|"
    r"the (?:build|compiler) (?:had|was)|built for sm_|not supported on \.target|requires \.target"
)
"""Messages that a missing part here, a limit of ours or a wrong target explains."""
STOPPED = re.compile(r"error: the (?:build|compiler) (?:had not ended|was ended)")
"""The message of a limit that ended the first compiler: another one would reach its own."""
OF_HALF_TYPES = re.compile(r"half|bfloat16|more than one", re.IGNORECASE)
"""Errors that torch's macros may cure: they remove declarations of CUDA's half types, and so an ambiguity."""
ERROR = re.compile(r"\berror\b|undefined symbol|ptxas fatal", re.IGNORECASE)
REMOVED = re.compile(r"\bDeprecatedTypeProperties\b|\d+ errors? detected in the compilation of")
"""A type that torch has removed (`AT_DISPATCH_...(x.type(), ...)`): an older torch compiles such a source. And nvcc's
count of errors, which says nothing without them."""
GENERATED = "c10/cuda/impl/cuda_cmake_macros.h"
"""A header of torch's own build with this one macro, which torch for the CPU lacks."""
INLINE_HEADERS = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
"""The includes that torch adds to the CUDA texts of an extension."""


UNBOUND = "error: the source binds no function for Python: it has no PYBIND11_MODULE and no TORCH_LIBRARY"
"""The log of a source that compiles, but has no function to load."""
HOST_WARP_SIZE = "error: host code uses warpSize: undefined symbol: __device_builtin_variable_warpSize"
"""The log of a source that nvcc 13.0 compiles, and whose library Python cannot import, as an H200 answered."""
UNCLOSED = (
    "error: line {line}: missing terminating {quote} character: a text in quotes is broken over two lines; in a Python "
    "text that is not raw, \\n breaks the line"
)
OF_EVERY_COMPILER = re.compile(r"error: line \d+: missing terminating ")
"""The log of a source that no C++ compiler takes, and what it begins with."""
BINDING = re.compile(r"PYBIND11_MODULE|TORCH_LIBRARY|PyInit_|RegisterOperators")
"""The bindings by which Python finds a function in a library; comments count too."""


def require_binding(texts: Iterable[str], *, header_set: str) -> None:
    """Raise CompileError where no text of a source binds a function for Python."""
    if not any(BINDING.search(text) for text in texts):
        raise CompileError(UNBOUND, header_set=header_set)


@dataclass(frozen=True)
class Refusal:
    """A compiler with its version, and its errors."""

    compiler: str
    log: str


def refusal_of(
    note: BuildNote, variant: Variant, source: Path, *, kind: DeviceKind, flags: Sequence[str] = ()
) -> Refusal | None:
    """Return the refusal of the claimed kernel after that note's failed build on a device of that kind, if any; `flags`
    are the claim's macros and include folders."""
    if variant.role != "claimed" or note.outcome != "does not compile" or STOPPED.search(note.log):
        return None
    if note.log in (UNBOUND, HOST_WARP_SIZE):
        return Refusal("Python's import", note.log)
    if OF_EVERY_COMPILER.match(note.log):
        return Refusal("every C++ compiler", note.log)
    if kind == "cuda":
        return of_torch(note.log) if note.header_set == HEADER_SET else None
    return of_nvcc(source, compute_capability=variant.compute_capability, flags=flags)


def of_torch(log: str) -> Refusal | None:
    """Return the refusal in the log of torch's extension builder; None where the machine explains the failure."""
    words = _errors(log)
    return None if not words or OF_THE_MACHINE.search(log) else Refusal("torch's extension builder", words)


def of_nvcc(source: Path, *, compute_capability: int, flags: Sequence[str] = ()) -> Refusal | None:
    """Return nvcc's refusal of a `.cu` file, or of a `.py` that builds an extension from texts; None where it compiles,
    there is no nvcc, or it takes too long. `compute_capability` is the source's least one, 75 for 7.5."""
    home, unit, folders = cuda_home(), _unit(source), torch_headers()
    if home is None or unit is None or torch_folder() is None:
        return None
    nvcc = str(home / "bin" / "nvcc")
    with Scratch() as folder:
        text, generated = folder / f"{source.stem}.cu", folder / "generated" / GENERATED
        text.write_text(unit, encoding="utf-8")
        generated.parent.mkdir(parents=True)
        generated.write_text("#define C10_CUDA_BUILD_SHARED_LIBS\n", encoding="utf-8")
        given = [f"-I{source.parent / flag[2:]}" if flag.startswith("-I") else flag for flag in flags]
        own = [*given, *FLAGS, f"-arch=sm_{max(NEWEST, compute_capability)}", f"-I{source.parent}", str(text)]
        own += [f"-isystem={each}" for each in (*folders, folder / "generated")]
        words = ""
        for macros in ((), TORCH_MACROS):  # some builds have them: a refusal needs both
            done = command.run([nvcc, *macros, *own], folder=folder, limit_s=LIMIT_S, reads=[source.parent, *folders])
            words = _errors(compiler_words(done.out + done.err))
            if done.code == 0 or done.stopped or not words or OF_THE_MACHINE.search(words):
                return None
            if not OF_HALF_TYPES.search(words) and "__CUDA_NO_" not in unit:
                break  # a pass over torch's headers takes a minute
        version = command.run([nvcc, "--version"], folder=folder, limit_s=VERSION_LIMIT_S)
    try:
        release = parse_nvcc(version.out)[1]
    except BadInput:
        return None
    return Refusal(f"nvcc {release} with the headers of torch {metadata.version('torch')}", words)


def _unit(source: Path) -> str | None:
    text = source.read_text(encoding="utf-8", errors="replace")
    if source.suffix != ".py":
        return text
    try:
        inline = PythonSource(text).inline
    except AuditError:
        return None
    return defines(inline[0].macros) + INLINE_HEADERS + "\n".join(inline[0].cuda) if len(inline) == 1 else None


def _errors(log: str) -> str:
    """Return the lines with errors, without those of REMOVED; empty if there are none."""
    return "\n".join(line for line in log.splitlines() if ERROR.search(line) and not REMOVED.search(line))
