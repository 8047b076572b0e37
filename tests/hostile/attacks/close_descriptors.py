"""Attack: closes every descriptor of its process, the kit's among them.
Wall: a session that cannot tell its answer has not answered
Outcome: contract error
"""

import os

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    os.closerange(0, 65536)
    return x * 2
