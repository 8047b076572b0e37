"""Attack: makes folders without end where its results go, faster than another process can count them.
Wall: files: no folder is made beside results, and temporary files have a quota; else the watch counts up to a bound
Outcome: cleared
"""

import itertools
import os
from pathlib import Path

import torch

MOST = 500_000


def forward(x: torch.Tensor) -> torch.Tensor:
    for place in places():
        for number in itertools.count():
            try:
                os.mkdir(f"{place}/hostile_{number}")
            except OSError:
                break
            if number == MOST:
                raise RuntimeError("let through: half a million folders")
    return x * 2


def places():
    """Folders that can be written to: by the mounts, or where temporary files go beside the results."""
    table = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    written = [row[4] for row in table if row[5].startswith("rw") and "audit-run-" in row[4]]
    return [*written, os.environ.get("TMPDIR", "/tmp")]
