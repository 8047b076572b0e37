"""Rows of a (vocab, dim) table gathered by int64 indices (batch, seq), plus a table of positions (seq, dim), float32."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Indices below vocab, and two standard normal tables, on the CPU."""
    indices = torch.randint(0, shape["vocab"], (shape["batch"], shape["seq"]), generator=generator)
    table = torch.randn(shape["vocab"], shape["dim"], generator=generator)
    positions = torch.randn(shape["seq"], shape["dim"], generator=generator)
    return [indices, table, positions]


def reference(indices: torch.Tensor, table: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.nn.functional.embedding(indices, table) + positions


def oracle(indices: torch.Tensor, table: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.embedding(indices, table.double()) + positions.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """One addition a result; indices, positions and at most the whole table read once, each result written once."""
    tokens = shape["batch"] * shape["seq"]
    rows = min(tokens, shape["vocab"])
    return {
        "flops": float(tokens * shape["dim"]),
        "bytes": 8.0 * tokens + 4.0 * shape["dim"] * (rows + shape["seq"] + tokens),
    }
