"""Attack: prints without end, 4 GB at most.
Wall: disk: what a session prints is cut off
Outcome: contract error: printed more than
"""

import os

import torch

MOST, PIECE = 4 << 30, b"all is well\n" * 100_000


def forward(x: torch.Tensor) -> torch.Tensor:
    written = 0
    while written < MOST:
        written += os.write(1, PIECE)
    raise RuntimeError(f"let through: {written >> 30} GB")
