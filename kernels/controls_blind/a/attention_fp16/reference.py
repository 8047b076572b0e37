"""Attention of queries over the first lengths[b] keys of their head, in fp16."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 2
INDEX_BYTES = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Queries, keys and values (b, s, d) in fp16, and an int32 length a head between half of s and s, on the CPU."""
    b, s, d = shape["b"], shape["s"], shape["d"]
    q, k, v = (torch.randn(b, s, d, generator=generator).to(torch.float16) for _ in range(3))
    lengths = torch.randint(max(1, s // 2), s + 1, (b,), generator=generator).to(torch.int32)
    return [q, k, v, lengths]


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(1, 2) / q.size(2) ** 0.5
    places = torch.arange(k.size(1), device=k.device)
    dead = places[None, None, :] >= lengths[:, None, None]
    return torch.softmax(scores.masked_fill(dead, float("-inf")), dim=2) @ v


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with: in float32, rounded once."""
    return _attend(q.float(), k.float(), v.float(), lengths).to(torch.float16)


def oracle(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return _attend(q.double(), k.double(), v.double(), lengths)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Two products over the shortest lengths that inputs draws; everything read once, the result written once."""
    b, s, d = shape["b"], shape["s"], shape["d"]
    keys = max(1, s // 2)
    return {"flops": 4.0 * b * s * keys * d, "bytes": float(BYTES_PER_ELEMENT * 2 * b * d * (s + keys) + INDEX_BYTES * b)}
