"""The shared parts of kernel builds, made once per torch and compiler: the runtime, and precompiled header sets."""

from __future__ import annotations

import functools
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from audit.build import cache
from audit.build.emulated import toolchain
from audit.build.settings import DEVICE_PREFIX as NAME
from audit.model.errors import CompileError

HeaderSet = Literal["micro", "slim", "full"]
PREFIX = "prefix"
FOLDER = toolchain.INCLUDE.parent
HEADER_SETS: tuple[HeaderSet, ...] = get_args(HeaderSet)

_TORCH = re.compile(r"^#include <(?:ATen|c10)/.*\n", re.MULTILINE)
_RUNTIME_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-U_FORTIFY_SOURCE", "-fvisibility=hidden", "-g1")


def prepare() -> None:
    """Make the runtime and the first header set in parallel; one that exists is checked where a source is compiled."""
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(runtime)
        if not _header_folder("micro").exists():
            header("micro")
        made.result()


def runtime() -> Path:
    """Return the path of the runtime's library, `lib<prefix>.so`; compile it if it is not in the cache."""
    tools, named = toolchain.find(), sources()
    key = cache.fingerprint([*tools.identity, *_RUNTIME_FLAGS, named.prefix])
    target = cache.cache_folder() / "runtime" / key

    def make(unfinished: Path) -> None:
        parts = dict.fromkeys(("plain.cpp", "torch.cpp"), "")
        for each in sorted(named.runtime.glob("*.cpp")):
            first = "".join(_TORCH.findall(each.read_text(encoding="utf-8")))  # before any `using` of ours
            name = "torch.cpp" if first else "plain.cpp"
            parts[name] = f'{first}{parts[name]}#include "{each}"\n'
        for name, text in parts.items():  # shared headers are read once in each
            (unfinished / name).write_text(text, encoding="utf-8")
        headers = [f"-I{named.include}", f"-isystem{tools.torch / 'include'}"]
        # First in every file: torch's own declaration would hide the symbol.
        headers += ["-include", f"{named.prefix}/torch_text.h"]
        texts = [*parts, *map(str, named.runtime.glob("*.S"))]
        arguments = [*_RUNTIME_FLAGS, *headers, *texts, "-o", f"lib{named.prefix}.so"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[named.folder])
        if not succeeded:
            raise CompileError(log, header_set="runtime")

    cache.made(target, make)
    return target / f"lib{named.prefix}.so"


def header(header_set: HeaderSet) -> Path:
    """Return the first include of a header set, with its precompiled form next to it."""
    tools, named = toolchain.find(), sources()
    flags = header_set_flags(header_set)
    target = _header_folder(header_set)

    def make(unfinished: Path) -> None:
        (unfinished / "prelude.h").write_text(f'#include "{named.prefix}/prelude_{header_set}.h"\n', encoding="utf-8")
        arguments = [*named.flags, *tools.flags, *flags, "-x", "c++-header", "prelude.h", "-o", "prelude.h.gch"]
        succeeded, log = toolchain.compile_file(arguments, folder=unfinished, reads=[named.folder])
        if not succeeded:
            raise CompileError(log, header_set=header_set)

    cache.made(target, make)
    return target / "prelude.h"


def _header_folder(header_set: HeaderSet) -> Path:
    parts = [*toolchain.find().identity, *header_set_flags(header_set), sources().prefix, header_set]
    return cache.cache_folder() / "headers" / f"{header_set}-{cache.fingerprint(parts)}"


def header_set_flags(header_set: HeaderSet) -> tuple[str, ...]:
    """Return the flags of a header set in addition to the toolchain's."""
    if header_set == "micro":
        return ()
    return (f"-isystem{toolchain.python_include()}", "-DTORCH_EXTENSION_NAME=extension")


@dataclass(frozen=True)
class Sources:
    """The headers and the runtime's sources in one cache, with a random prefix in place of `cuemu` in every name. So no
    source can test for a name, a macro or a header of the device, or call its internal functions."""

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
    def flags(self) -> tuple[str, ...]:
        """The flags for the headers, as system headers, whose words `preprocess` ignores, before all other folders."""
        return (f"-isystem{self.include}",)


def sources() -> Sources:
    """Return the sources in the cache; write them if they are missing."""
    target = cache.cache_folder() / "device" / _contents()
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
    return cache.fingerprint(part for each in _files() for part in (str(each.relative_to(FOLDER)), each.read_bytes()))
