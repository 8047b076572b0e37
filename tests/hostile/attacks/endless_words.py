"""Attack: an exception whose text is a million lines long.
Wall: what a record holds of claimed code's words is bounded
Outcome: contract error: ValueError
"""

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("all is well\n" * 1_000_000)
