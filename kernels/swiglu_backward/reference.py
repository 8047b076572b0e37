"""The task of the claim: y = silu(gate) * up and both gradients, float32; shapes are `{"ROWS", "WIDTH"}`."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4
Outputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Gate, up and the gradient of y, (ROWS, WIDTH) each, standard normal; on the CPU."""
    size = (shape["ROWS"], shape["WIDTH"])
    return [torch.randn(size, generator=generator, dtype=torch.float32) for _ in range(3)]


def reference(gate: torch.Tensor, up: torch.Tensor, grad: torch.Tensor) -> Outputs:
    """What the claim was compared with: y, the gradient of gate, the gradient of up."""
    with torch.enable_grad():
        gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
        y = torch.nn.functional.silu(gate) * up
        of_gate, of_up = torch.autograd.grad(y, (gate, up), grad)
    return y.detach(), of_gate, of_up


def oracle(gate: torch.Tensor, up: torch.Tensor, grad: torch.Tensor) -> Outputs:
    """The same in float64."""
    return reference(gate.double(), up.double(), grad.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (ten an element) and `bytes` moved (three matrices read, three written)."""
    elements = shape["ROWS"] * shape["WIDTH"]
    return {"flops": 10.0 * elements, "bytes": 6.0 * BYTES_PER_ELEMENT * elements}


BASELINES: dict[str, Callable[..., Outputs]] = {"eager": reference}
