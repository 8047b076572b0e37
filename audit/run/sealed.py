"""The judge's side: the native library that speaks for sessions, compiled once for this machine and cached."""

from __future__ import annotations

import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

from audit.build.emulated import toolchain
from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.model.errors import AuditError

SOURCE = Path(__file__).parent / "native" / "seal.cpp"
NAME = "libseal.so"
FLAGS = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wl,-z,now,-z,relro,-Bsymbolic",
)
LIMIT_S = 120.0


@cache
def library(folder: Path | None = None) -> Path:
    """Path of the library, compiled if need be: a second, once.

    Args:
        folder: the cache; None is the user's.

    Raises:
        AuditError: no compiler, or it refuses the source; says what to install.
    """
    key = fingerprint([SOURCE.read_bytes(), *FLAGS, platform.machine()])
    target = (folder or cache_folder()) / "channel" / key
    made(target, _compile)
    return target / NAME


def _compile(unfinished: Path) -> None:
    compiler = shutil.which(toolchain.compiler_name())
    if compiler is None:
        raise AuditError("no C++ compiler: what sessions tell is sealed by native code (Debian: apt-get install g++)")
    command = [compiler, *FLAGS, str(SOURCE), "-o", str(unfinished / NAME)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise AuditError(
            f"{compiler} had not compiled {SOURCE.name} after {LIMIT_S:g} s; set CXX to another"
        ) from error
    if done.returncode:
        raise AuditError(f"{compiler} does not compile {SOURCE.name}: {done.stderr.strip()[:500]}")
