"""Flags by which a source asks nvcc for an architecture that the nvcc at hand no longer has, as `-arch=sm_70`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

_OPTIONS = ("-arch", "-code", "-gencode", "--gpu-architecture", "--gpu-code", "--generate-code")
_TARGET = re.compile(r"\b(?:sm|compute)_(\d+)[a-z]?\b")

_OLDER_GPU = re.compile(
    r"\b(?:G?V100S?|[GT]?P100|P4|P40|M40|M60|K[248]0|GTX ?(?:[789]|10)\d\d|TITAN|Xavier|Volta|Pascal|Maxwell|Kepler)\b",
    re.IGNORECASE,
)
"""Names of GPUs older than Turing, the first that nvcc 13 has."""


@cache
def oldest(nvcc: Path) -> int:
    """Return the oldest architecture that this nvcc has, 75 for sm_75; 0 where it does not say."""
    try:
        done = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return min((int(one) for one in _TARGET.findall(done.stdout)), default=0)


def parted(flags: Sequence[str], least: int) -> tuple[list[str], list[str]]:
    """Return the flags without those whose architectures are all older than `least`, and these, each as one text."""
    kept: list[str] = []
    dropped: list[str] = []
    left = iter(flags)
    for flag in left:
        both = [flag, *([next(left, "")] if flag in _OPTIONS else ())]
        targets = [int(one) for one in _TARGET.findall(" ".join(both))]
        if flag.startswith(_OPTIONS) and targets and max(targets) < least:
            dropped.append(" ".join(both))
        else:
            kept += both
    return kept, dropped


def may_be_left_out(named: Iterable[str]) -> bool:
    """Return whether a claim names no GPU that an nvcc of today may no longer have."""
    return not any(_OLDER_GPU.search(name) for name in named)
