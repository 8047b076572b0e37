"""Attack: takes memory and writes to all of it, 18 GB at most.
Wall: memory: a session may have so much
Outcome: contract error: GiB of
Outcome on cuda: not asked
"""

import mmap

import torch

MOST, PIECE = 18 << 30, 128 << 20


def forward(x: torch.Tensor) -> torch.Tensor:
    kept = []
    for _ in range(MOST // PIECE):
        piece = mmap.mmap(-1, PIECE)
        for place in range(0, PIECE, mmap.PAGESIZE):
            piece[place] = 1
        kept.append(piece)
    raise RuntimeError(f"let through: {len(kept) * PIECE >> 30} GB")
