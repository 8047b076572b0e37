"""Attack: a loop on the host that never ends.
Wall: wall-clock limit of a session
Outcome: contract error: did not finish within 2 s
Outcome on cuda: contract error: did not finish within 10 s
"""

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    while True:
        pass
