"""What every kernel build needs and is made once per torch and compiler: the runtime, a precompiled header per rung."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, get_args

from audit.build.emulated import cache, toolchain
from audit.model.errors import CompileError

Rung = Literal["micro", "slim", "full"]
RUNGS: tuple[Rung, ...] = get_args(Rung)

_RUNTIME_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-U_FORTIFY_SOURCE", "-fvisibility=hidden", "-g1")


def prepare(progress: Callable[[str], None] | None = None, *, folder: Path | None = None) -> None:
    """Make the runtime and the first rung's header, at the same time; nothing happens if they exist."""
    tell = progress or (lambda _: None)
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(runtime, tell, folder=folder), pool.submit(header, "micro", tell, folder=folder)]
        for job in jobs:
            job.result()


def runtime(progress: Callable[[str], None], *, folder: Path | None = None) -> Path:
    """Path of libcuemu_runtime.so, compiled if need be."""
    tools = toolchain.find()
    sources = sorted(each for each in toolchain.RUNTIME_SOURCES.iterdir() if each.suffix in (".cpp", ".S"))
    key = cache.fingerprint([*tools.identity, *_RUNTIME_FLAGS, _contents(toolchain.RUNTIME_SOURCES), headers_hash()])
    target = (folder or cache.cache_folder()) / "runtime" / key

    def make(unfinished: Path) -> None:
        progress("compiling the emulated device's runtime (once)")
        headers = [f"-I{toolchain.INCLUDE}", f"-isystem{tools.torch / 'include'}"]
        arguments = [*_RUNTIME_FLAGS, *headers, *map(str, sources), "-o", "libcuemu_runtime.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished)
        if not succeeded:
            raise CompileError(log, rung="runtime")

    cache.made(target, make)
    return target / "libcuemu_runtime.so"


def header(rung: Rung, progress: Callable[[str], None], *, folder: Path | None = None) -> Path:
    """The file to include first on a rung; its precompiled form lies beside it."""
    tools = toolchain.find()
    flags = rung_flags(rung)
    key = cache.fingerprint([*tools.identity, *flags, headers_hash(), rung])
    target = (folder or cache.cache_folder()) / "headers" / f"{rung}-{key}"

    def make(unfinished: Path) -> None:
        progress(f"precompiling torch's headers, set {rung} (once)")
        (unfinished / "prelude.h").write_text(f'#include "cuemu/prelude_{rung}.h"\n', encoding="utf-8")
        arguments = [*tools.flags, *flags, "-x", "c++-header", "prelude.h", "-o", "prelude.h.gch"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished)
        if not succeeded:
            raise CompileError(log, rung=rung)

    cache.made(target, make)
    return target / "prelude.h"


def rung_flags(rung: Rung) -> tuple[str, ...]:
    """Flags a rung needs beyond the toolchain's."""
    if rung == "micro":
        return ()
    return (f"-isystem{toolchain.python_include()}", "-DTORCH_EXTENSION_NAME=emulated_kernel")


@functools.cache
def headers_hash() -> str:
    """Changes with every change of our own headers."""
    return _contents(toolchain.INCLUDE)


def _contents(folder: Path) -> str:
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return cache.fingerprint(part for each in files for part in (str(each.relative_to(folder)), each.read_bytes()))
