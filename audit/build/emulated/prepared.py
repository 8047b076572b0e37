"""What every kernel build needs and is made once per torch and compiler: the runtime, a precompiled header per rung."""

from __future__ import annotations

import functools
import re
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from audit.build.emulated import cache, toolchain
from audit.build.names import DEVICE_PREFIX as NAME
from audit.model.errors import CompileError

Rung = Literal["micro", "slim", "full"]
PREFIX = "prefix"
FOLDER = toolchain.INCLUDE.parent
RUNGS: tuple[Rung, ...] = get_args(Rung)

_TORCH = re.compile(r"#include <(?:ATen|c10)/")
_RUNTIME_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-U_FORTIFY_SOURCE", "-fvisibility=hidden", "-g1")


def prepare(progress: Callable[[str], None] | None = None, *, folder: Path | None = None) -> None:
    """Make the runtime and the first rung's header, at the same time; nothing happens if they exist."""
    tell = progress or (lambda _: None)
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(runtime, tell, folder=folder), pool.submit(header, "micro", tell, folder=folder)]
        for job in jobs:
            job.result()


def runtime(progress: Callable[[str], None], *, folder: Path | None = None) -> Path:
    """Path of the runtime's library, `lib<prefix>.so`, compiled if need be."""
    tools, named = toolchain.find(), sources(folder)
    key = cache.fingerprint([*tools.identity, *_RUNTIME_FLAGS, named.prefix])
    target = (folder or cache.cache_folder()) / "runtime" / key

    def make(unfinished: Path) -> None:
        progress("compiling the emulated device's runtime (once)")
        together = "".join(f'#include "{each}"\n' for each in named.plain)  # each alone reads the same headers first
        (unfinished / "plain.cpp").write_text(together, encoding="utf-8")
        apart = sorted(each for each in named.runtime.iterdir() if each.suffix in (".cpp", ".S"))
        texts = ["plain.cpp", *(str(each) for each in apart if each not in named.plain)]
        headers = [f"-I{named.include}", f"-isystem{tools.torch / 'include'}"]
        # First in every file: torch's own declaration would hide the symbol.
        headers += ["-include", f"{named.prefix}/torch_text.h"]
        arguments = [*_RUNTIME_FLAGS, *headers, *texts, "-o", f"lib{named.prefix}.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[named.folder])
        if not succeeded:
            raise CompileError(log, rung="runtime")

    cache.made(target, make)
    return target / f"lib{named.prefix}.so"


def header(rung: Rung, progress: Callable[[str], None], *, folder: Path | None = None) -> Path:
    """The file to include first on a rung; its precompiled form lies beside it."""
    tools, named = toolchain.find(), sources(folder)
    flags = rung_flags(rung)
    key = cache.fingerprint([*tools.identity, *flags, named.prefix, rung])
    target = (folder or cache.cache_folder()) / "headers" / f"{rung}-{key}"

    def make(unfinished: Path) -> None:
        progress(f"precompiling torch's headers, set {rung} (once)")
        (unfinished / "prelude.h").write_text(f'#include "{named.prefix}/prelude_{rung}.h"\n', encoding="utf-8")
        arguments = [*named.flags, *tools.flags, *flags, "-x", "c++-header", "prelude.h", "-o", "prelude.h.gch"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[named.folder])
        if not succeeded:
            raise CompileError(log, rung=rung)

    cache.made(target, make)
    return target / "prelude.h"


def rung_flags(rung: Rung) -> tuple[str, ...]:
    """Flags a rung needs beyond the toolchain's."""
    if rung == "micro":
        return ()
    return (f"-isystem{toolchain.python_include()}", "-DTORCH_EXTENSION_NAME=extension")


@dataclass(frozen=True)
class Sources:
    """The headers and the runtime's sources as one cache has them: `cuemu` in every name is a prefix drawn for it.

    No source can test for a name, a macro or a header of the device, or call what it does not get from a header.
    """

    folder: Path
    prefix: str

    @property
    def include(self) -> Path:
        """The folder of the headers."""
        return self.folder / toolchain.INCLUDE.name

    @property
    def runtime(self) -> Path:
        """The folder of the runtime's sources."""
        return self.folder / toolchain.RUNTIME_SOURCES.name

    @property
    def plain(self) -> list[Path]:
        """The sources of the runtime that include no header of torch."""
        texts = {each: each.read_text(encoding="utf-8") for each in sorted(self.runtime.glob("*.cpp"))}
        return [each for each, text in texts.items() if not _TORCH.search(text)]

    @property
    def flags(self) -> tuple[str, ...]:
        """For what includes the headers, before all other folders, as the system's: `expanded` leaves them alone."""
        return (f"-isystem{self.include}",)


def sources(folder: Path | None = None) -> Sources:
    """The sources in that cache, made if need be."""
    target = (folder or cache.cache_folder()) / "device" / _contents()
    cache.made(target, _renamed)
    return Sources(target, (target / PREFIX).read_text(encoding="utf-8"))


def _renamed(unfinished: Path) -> None:
    prefix = f"d{secrets.token_hex(6)}"
    (unfinished / PREFIX).write_text(prefix, encoding="utf-8")
    for path in _files():
        to = unfinished / str(path.relative_to(FOLDER)).replace(NAME, prefix)
        to.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8").replace(NAME, prefix).replace(NAME.upper(), prefix.upper())
        to.write_text(text, encoding="utf-8")


def _files() -> list[Path]:
    folders = (toolchain.INCLUDE, toolchain.RUNTIME_SOURCES)
    return sorted(each for folder in folders for each in folder.rglob("*") if each.is_file())


@functools.cache
def _contents() -> str:
    """Changes with every change of our own headers and sources."""
    return cache.fingerprint(part for each in _files() for part in (str(each.relative_to(FOLDER)), each.read_bytes()))
