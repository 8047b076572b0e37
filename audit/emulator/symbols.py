"""Runs in the judge: offsets into a kernel's library back to lines of its source."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_LINE = re.compile(r"^(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_SOURCE_SUFFIXES = (".cu", ".cuh")


def resolve(library: Path, offsets: Sequence[int]) -> list[int | None]:
    """The line of the .cu file for each offset; None where it is not known.

    An instruction that was inlined from one of our headers counts for the line of the source that called it.
    """
    tool = shutil.which("addr2line")
    if tool is None or not offsets:
        return [None] * len(offsets)
    command = [tool, "-e", str(library), "-i", "-a", *(hex(offset) for offset in offsets)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    chains: list[list[str]] = []
    for line in done.stdout.splitlines():
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
