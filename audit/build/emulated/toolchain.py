"""Find the host compiler and torch's headers, and choose the flags. Does not import torch."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from audit.build.dependencies import torch_folder
from audit.build.emulated import imports
from audit.model.errors import AuditError
from audit.sandbox import command

INCLUDE = Path(__file__).parent / "include"
RUNTIME_SOURCES = Path(__file__).parent / "runtime"

LEAST_GXX = 11
_OPTIONAL = ("--param=tsan-distinguish-volatile=1", "--param=tsan-instrument-func-entry-exit=0")
COMPILE_LIMIT_S = 600
_THROWS = b"int f() { try { throw 1; } catch (int) { return 0; } }"


@dataclass(frozen=True)
class Toolchain:
    """A compiler and a torch.

    Attributes:
        compiler: path of g++.
        version: its name and version, with its target machine.
        torch: torch's package folder.
        torch_version: e.g. "2.13.0+cpu".
        flags: those of all compilations with a precompiled header, which must be the same.
    """

    compiler: str
    version: str
    torch: Path
    torch_version: str
    flags: tuple[str, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """The dependencies of a compiled file in addition to its sources."""
        return (self.version, self.torch_version, str(self.torch), *self.flags)


@functools.cache
def find() -> Toolchain:
    """Return the compiler in $CXX or g++, with the installed torch. Raises AuditError saying what to install."""
    compiler, needed = shutil.which(compiler_name()), f"GNU g++ {LEAST_GXX} or newer"
    if compiler is None:
        raise AuditError(f"no C++ compiler: the emulated device needs {needed} (Debian: apt-get install g++)")
    version = _output(compiler, "-dumpfullversion", "-dumpversion")
    gnu = version[:1].isdigit() and "clang" not in _output(compiler, "--version")
    if not gnu or int(version.split(".")[0]) < LEAST_GXX:
        raise AuditError(f"{compiler} {version}: the emulated device needs {needed}; set CXX to one")
    if (torch := torch_folder()) is None:
        raise AuditError("torch is not installed; the emulated device compiles against its headers: pip install torch")
    return Toolchain(
        compiler=compiler,
        version=f"g++ {version} {_output(compiler, '-dumpmachine')}",
        torch=torch,
        torch_version=metadata.version("torch"),
        flags=_flags(compiler, torch),
    )


def compiler_name() -> str:
    """Return $CXX, or g++; also g++ where $CXX links the C++ library statically, which the device refuses."""
    named = os.environ.get("CXX")
    return named if named and not (shutil.which("g++") and _links_statically(named)) else "g++"


@functools.cache
def _links_statically(compiler: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        library = Path(folder) / "throws.so"
        words = [compiler, "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
        with suppress(OSError):
            subprocess.run(words, input=_THROWS, capture_output=True, check=False)
        return library.exists() and imports.holds_cxx_library(library)


def python_include() -> Path | None:
    """Return the folder of Python.h, if it is installed; only the larger header sets need it."""
    folder = Path(sysconfig.get_paths()["include"])
    return folder if (folder / "Python.h").is_file() else None


@functools.cache
def header_folders(flags: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the include folders of the compiler with those flags."""
    words = [find().compiler, *flags, "-E", "-v", "-x", "c++", os.devnull]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    return searched(done.stderr)


def searched(log: str) -> tuple[Path, ...]:
    """Return the include folders that a compiler lists with `-v`, in every pass."""
    passes = [part.partition("End of search")[0] for part in log.split("search starts here:\n")[1:]]
    return tuple(Path(line.strip()) for part in passes for line in part.splitlines() if line[:1] == " ")


def compile_file(arguments: list[str], *, folder: Path, reads: Sequence[Path] = ()) -> tuple[bool, str]:
    """Run the compiler in a folder, inside the sandbox, where it may read that folder, `reads` and installed files;
    return whether it succeeded, and its messages."""
    done = command.run([find().compiler, *arguments], folder=folder, limit_s=COMPILE_LIMIT_S, reads=reads)
    if done.stopped:
        return False, f"error: the compiler {done.stopped.removeprefix('it ')}\n{done.err}"
    return done.code == 0, done.err


def _flags(compiler: str, torch: Path) -> tuple[str, ...]:
    headers = torch / "include"
    return (
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-g1",
        "-w",
        "-fsanitize=thread,alignment",
        "-U__SANITIZE_THREAD__",
        "-fno-strict-aliasing",  # kernels read registers of one type as another
        "-fno-optimize-sibling-calls",  # a report has the line of a call, not of its return
        *(option for option in _OPTIONAL if _succeeds(compiler, option, "-fsyntax-only", "-x", "c++", os.devnull)),
        "-fno-gnu-unique",
        "-fno-plt",
        "-fvisibility=hidden",
        f"-isystem{headers}",
        f"-isystem{headers / 'torch/csrc/api/include'}",
    )


def _succeeds(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
