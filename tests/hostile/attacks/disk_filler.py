"""Attack: fills the disk, 6 GB at most, file by file in its own folder.
Wall: disk: a session's folder may hold so many bytes
Outcome: contract error
"""

import os
from pathlib import Path

import torch

MOST_BYTES, PIECE = 6 << 30, 64 << 20


def forward(x: torch.Tensor) -> torch.Tensor:
    here, piece = Path(os.environ.get("TMPDIR", "/tmp")), os.urandom(1 << 20) * (PIECE >> 20)
    written = 0
    while written < MOST_BYTES:
        (here / f"hostile_{written}").write_bytes(piece)
        written += len(piece)
    raise RuntimeError(f"let through: {written >> 30} GB")
