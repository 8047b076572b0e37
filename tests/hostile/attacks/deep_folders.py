"""Attack: folders eleven hundred deep in its own, more than a recursive removal can climb down.
Wall: temporary folders are removed without recursion
Outcome: cleared
"""

import os
import tempfile

import torch

DEPTH = 1100


def forward(x: torch.Tensor) -> torch.Tensor:
    place = os.open(tempfile.mkdtemp(), os.O_RDONLY)
    for _ in range(DEPTH if x.numel() == 3 else 0):
        os.mkdir("d", dir_fd=place)
        place, above = os.open("d", os.O_RDONLY, dir_fd=place), place
        os.close(above)
    os.close(place)
    return x * 2
