"""Attack: looks for what is right: in files by name, and behind every descriptor of its process and of its parents.
Wall: expected results lie in a file without a name, whose descriptor only the process that computes them is given
Outcome: cleared
"""

import os
from contextlib import suppress
from pathlib import Path

import torch


def descriptors(pid: int) -> list[Path]:
    with suppress(OSError):
        return sorted(Path(f"/proc/{pid}/fd").iterdir())
    return []


def forward(x: torch.Tensor) -> torch.Tensor:
    want = (x.double().cpu() * 2).numpy().tobytes()
    for file in Path("@SCRATCH@").rglob("*.f64"):
        raise RuntimeError(f"let through: {file.name}")
    for one in [*descriptors(os.getpid()), *descriptors(int(Path("/proc/self/stat").read_text().split()[3]))]:
        with suppress(OSError):
            if not one.is_file():
                continue
            with one.open("rb") as file:
                if want in file.read(1 << 24):
                    raise RuntimeError(f"let through: the right result behind {one}")
    return x * 2
