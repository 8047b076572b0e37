"""The files that a compiler read for a source, by its own list: those of the claim are returned, others are refused.

The includes of a source do not suffice: macros, pasted tokens and conditionals make others.
"""

from __future__ import annotations

import os
import re
import stat
import sysconfig
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from audit.model import SourceFile, untrusted
from audit.model.errors import BadInput, Unsupported

MOST_FILES = 20_000
"""The most files in the folder of a source and below."""
_NAME = re.compile(r"(?:\\.|[^\\\s])+")
_ESCAPED = re.compile(r"\\([\s#:\\])")


def torch_folder() -> Path | None:
    """Return torch's folder, None without torch. The judge's process does not import it."""
    spec = find_spec("torch")
    return Path(spec.origin).parent if spec and spec.origin else None


def torch_headers() -> list[Path]:
    """Return the include folders of torch's extension builder."""
    folder = torch_folder()
    torch = [folder / "include", folder / "include/torch/csrc/api/include"] if folder else []
    return [*torch, Path(sysconfig.get_paths()["include"])]


def wheels() -> list[Path]:
    """Return the folders of NVIDIA's installed wheels."""
    spec = find_spec("nvidia")
    return [*map(Path, (spec.submodule_search_locations if spec else None) or ())]


def listed(rule: str) -> list[str]:
    """Return the files in a rule for make, as `-MD` writes it."""
    _, _, names = rule.replace("\\\n", " ").partition(": ")
    return [_ESCAPED.sub(r"\1", name).replace("$$", "$") for name in _NAME.findall(names)]


def own_files(names: Iterable[str], *, source: Path, build: Path, toolchain: Sequence[Path]) -> tuple[SourceFile, ...]:
    """Return the files of the claim that a compiler read.

    Args:
        names: the files that it read, in its own spelling.
        source: the compiled file; its headers are in its folder and below.
        build: the compiler's working directory.
        toolchain: folders of headers of the compiler and the kit.

    Raises:
        Unsupported: a file is elsewhere, or cannot be found or read again.
    """
    folder, roots = source.parent.resolve(), [each.resolve() for each in (build, *toolchain)]

    @cache
    def in_toolchain(parent: str) -> bool:  # thousands of headers lie in a few hundred folders
        return _holder(Path(parent), folder, roots) in roots

    found: dict[str, SourceFile] = {}
    for name in names:
        normal = os.path.normpath(os.path.join(build, name))  # noqa: PTH118  # a Path of each takes seconds
        if ".." not in name and in_toolchain(os.path.dirname(normal)):  # noqa: PTH120
            continue
        path = Path(normal)
        real = _resolved(path, build / name)
        holder = _holder(real.parent, folder, roots)
        if holder is None:
            raise Unsupported(f"a source that reads {path.name}, outside of its own folder and the compiler's")
        if holder == folder:
            file = (path if path.is_relative_to(folder) else real).relative_to(folder).as_posix()
            found[file] = SourceFile.of(file, _data(path))
    return tuple(found[file] for file in sorted(found))


def marks(folder: Path) -> list[str]:
    """Return the names and metadata of all files in a folder, which differ after a file is made, changed or removed.
    Raises Unsupported: there are more than `MOST_FILES`."""
    found: list[str] = []
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            seen = (path := Path(parent, name)).lstat()
            times = () if stat.S_ISDIR(seen.st_mode) else (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            found.append(f"{path} {seen.st_ino} {seen.st_mode} {times}")
        if len(found) > MOST_FILES:
            raise Unsupported(f"a source in a folder of more than {MOST_FILES:,} files; give it a folder of its own")
    return sorted(found)


def _holder(parent: Path, folder: Path, roots: Sequence[Path]) -> Path | None:
    """Return the innermost of those folders around a file in `parent`: a toolchain may be inside a claim, or a claim
    inside it."""
    around = [each for each in (*roots, folder) if parent.is_relative_to(each)]
    return max(around, key=lambda each: len(each.parts), default=None)


def _resolved(path: Path, as_named: Path) -> Path:
    """Return the real path, which must be the same for both names."""
    lost = Unsupported(f"a source that reads {path.name!r}, which cannot be found again by this name")
    try:
        real, named = path.resolve(strict=True), as_named.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise lost from error
    if real != named:
        raise lost
    return real


def _data(path: Path) -> bytes:
    try:
        return untrusted.data(path, limit_bytes=untrusted.SOURCE_BYTES, empty=True)
    except BadInput as error:
        raise Unsupported(f"a source that reads {path.name}: {error}") from error
