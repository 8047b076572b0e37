"""Attack: aborts, as a library does that finds its memory damaged.
Wall: the judge's process holds no claimed code; no core is written
Outcome: contract error: SIGABRT
"""

import os

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    os.abort()
