"""Runs in the judge: map offsets in a kernel's library to lines of its source."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.model.run_directory import Scratch
from audit.sandbox import command

_LINE = re.compile(r"^(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_SOURCE_SUFFIXES = (".cu", ".cuh")
_LIMIT_S = 60.0
_known: dict[tuple[Path, int], int | None] = {}
"""Lines by library, whose name depends on its contents, and offset: most sessions of an audit report the same ones."""


def located(reports: Sequence[dict[str, Any]], library: Path) -> list[dict[str, Any]]:
    """Return reports of the emulated device with an unknown `line` filled in from debug information."""
    asked = {one["library_offset"] for one in reports if one["line"] is None} - {None}
    new = sorted(offset for offset in asked if (library, offset) not in _known)
    _known.update(((library, offset), line) for offset, line in zip(new, resolve(library, new), strict=True))
    return [
        {**one, "line": _known.get((library, one["library_offset"])) if one["line"] is None else one["line"]}
        for one in reports
    ]


def resolve(library: Path, offsets: Sequence[int]) -> list[int | None]:
    """Return the line of the .cu file for each offset; None where unknown.

    An instruction inlined from one of our headers counts for the line of its caller. The library is untrusted: its
    reader runs in the sandbox.
    """
    tool = shutil.which("addr2line")
    if tool is None or not offsets:
        return [None] * len(offsets)
    words = [tool, "-e", str(library), "-i", "-a", *(hex(offset) for offset in offsets)]
    with Scratch() as folder:
        done = command.run(words, folder=folder, limit_s=_LIMIT_S, reads=[library.parent])
    chains: list[list[str]] = []
    for line in done.out.splitlines():
        if line.startswith("0x"):
            chains.append([])
        elif chains:
            chains[-1].append(line)
    found = [_source_line(chain) for chain in chains]
    return found if len(found) == len(offsets) else [None] * len(offsets)


def _source_line(chain: list[str]) -> int | None:
    for each in chain:
        match = _LINE.match(each)
        if match and match["file"].endswith(_SOURCE_SUFFIXES) and int(match["line"]) > 0:
            return int(match["line"])
    return None
