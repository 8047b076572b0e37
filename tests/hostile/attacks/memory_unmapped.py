"""Attack: fills shared memory, 3 GiB at most, and gives its pages back: they stay, and are resident in no process.
Wall: watch: shared memory counts by what is mapped and held open, resident or not
Outcome: contract error: GiB of shared memory
"""

import mmap
import time

import torch

MOST_BYTES, PIECE = 3 << 30, 64 << 20


def forward(x: torch.Tensor) -> torch.Tensor:
    held, piece = [], bytes(PIECE)
    for _ in range(MOST_BYTES // PIECE):
        held.append(mmap.mmap(-1, PIECE))
        held[-1].write(piece)
        held[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(3)
    raise RuntimeError(f"let through: {len(held) * PIECE >> 30} GiB that no process has")
