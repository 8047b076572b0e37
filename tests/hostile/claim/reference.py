"""y = 2x: the task every attack pretends to do."""

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    return [torch.randn(shape["N"], generator=generator)]


def reference(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def oracle(x: torch.Tensor) -> torch.Tensor:
    return x.double() * 2


def cost(shape: dict[str, int]) -> dict[str, float]:
    return {"flops": shape["N"], "bytes": 8 * shape["N"]}
