"""Attack: puts another library into the cache that later audits use, and opens those that are there for writing.
Wall: landlock: a session writes below its own folder and nowhere else
Outcome: cleared
"""

from contextlib import suppress
from pathlib import Path

import torch

CACHE = Path("@CACHE@")


def forward(x: torch.Tensor) -> torch.Tensor:
    for kind in ("kernels", "headers", "runtime", "python"):
        with suppress(OSError):
            (CACHE / kind / "hostile_entry").mkdir()
            (CACHE / kind / "hostile_entry").rmdir()
            raise RuntimeError(f"let through: an entry in {kind}")
        for path in (CACHE / kind).rglob("*.so"):
            with suppress(OSError), path.open("r+b"):
                raise RuntimeError(f"let through: {path.name} in {kind} can be written")
    return x * 2
