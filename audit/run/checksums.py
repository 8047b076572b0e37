"""Runs in a child: checksums of a GPU's memory, taken there: to see that nothing changed, nothing has to be copied.

What they need lies in a memory pool of its own. The allocator hands none of it to claimed code, so that taking one
leaves what a call finds in fresh memory as it was.
"""

from __future__ import annotations

import secrets
from typing import Any

import torch

WORD_BYTES = 8
CHUNK = 1 << 22
"""Words at a time: 32 MiB, and as much again for their products."""
MODULUS = 1 << 64
FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that every chunk counts: the golden ratio's share of 2**64."""


class Checksums:
    """Sums of 8-byte words, each times an odd number of its own, modulo 2**64: one changed word always shows.

    The numbers are drawn once a process.
    """

    def __init__(self) -> None:
        self._pool: Any = None
        self._factors = torch.empty(0)

    def of(self, tensor: torch.Tensor) -> int | None:
        """The checksum of a tensor in one piece of GPU memory, row major; None for any other tensor."""
        if not tensor.is_cuda or not tensor.is_contiguous() or type(tensor) is not torch.Tensor:
            return None
        if self._pool is None:
            self._pool = torch.cuda.MemPool()
        with torch.no_grad(), torch.cuda.use_mem_pool(self._pool):
            return self._sum(tensor.reshape(-1).view(torch.uint8))

    def _sum(self, data: torch.Tensor) -> int:
        if not self._factors.numel():
            generator = torch.Generator(data.device).manual_seed(secrets.randbits(62))
            drawn = torch.randint(-(1 << 62), 1 << 62, (CHUNK,), device=data.device, generator=generator)
            self._factors = drawn | 1
        whole = data.numel() // WORD_BYTES * WORD_BYTES
        words = self._aligned(data[:whole])
        sums = [(one * self._factors[: one.numel()]).sum() for one in torch.split(words, CHUNK)] if whole else []
        total = 0
        for part in [*torch.stack(sums).tolist(), *data[whole:].tolist()] if sums else data[whole:].tolist():
            total = (total * FACTOR + part) % MODULUS
        return total

    @staticmethod
    def _aligned(data: torch.Tensor) -> torch.Tensor:
        """As 8-byte words; a view that does not begin at one is copied."""
        return (data if data.data_ptr() % WORD_BYTES == 0 else data.clone()).view(torch.int64)
