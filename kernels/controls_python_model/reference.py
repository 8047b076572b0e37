"""The task: y = weight x + bias over the columns of a (rows, 24) float32 matrix, by a module in KernelBench's form.

`ModelNew` of a variant is made after the same seed as `Model` here, so both draw the same parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

FEATURES = 24
SEED = 42
BYTES_PER_ELEMENT = 4


class Model(nn.Module):
    """Scale and shift of `features` columns."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What a control is compared with; x is (rows, features)."""
        return x * self.weight + self.bias


def get_init_inputs() -> list[int]:
    """Arguments of `Model` and of `ModelNew`."""
    return [FEATURES]


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ...}` rows, on the CPU."""
    return [torch.randn(shape["rows"], FEATURES, generator=generator, dtype=torch.float32)]


@torch.no_grad()
def reference(x: torch.Tensor) -> torch.Tensor:
    """The seeded module's result."""
    result: torch.Tensor = _model().to(x.device)(x)
    return result


@torch.no_grad()
def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    result: torch.Tensor = _model().double().to(x.device)(x.double())
    return result


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two an element) and `bytes` moved (each read and written once)."""
    elements = shape["rows"] * FEATURES
    return {"flops": 2.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * elements}


def _model() -> Model:
    torch.manual_seed(SEED)
    return Model(*get_init_inputs())


BASELINES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"eager": reference}
