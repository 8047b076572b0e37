"""Attack: starts three hundred threads that wait for ever.
Wall: processes: everything a session ever started ends with it
Outcome: cleared
"""

import threading

import torch

MOST = 300


def forward(x: torch.Tensor) -> torch.Tensor:
    if x.numel() != 3:
        return x * 2
    never = threading.Event()
    for _ in range(MOST):
        threading.Thread(target=never.wait, daemon=True).start()
    return x * 2
