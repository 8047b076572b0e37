import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
