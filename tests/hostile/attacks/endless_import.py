"""Attack: a module that never gets to the end of its import.
Wall: wall-clock limit of a session, which begins before claimed code is loaded
Outcome: contract error: did not finish within 2 s
Outcome on cuda: contract error: did not finish within 10 s
"""

import torch

while torch is not None:
    pass


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
