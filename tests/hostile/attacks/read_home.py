"""Attack: reads a secret from the home of whoever runs the audit, and lists other homes.
Wall: landlock: a session reads below what it needs and nowhere else
Outcome: cleared
"""

import os
from contextlib import suppress
from pathlib import Path

import torch

SECRET = Path("@HOME@/token")
PLACES = ("@HOME@", "/root", "/home")


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        raise RuntimeError(f"let through: {SECRET.read_text()}")
    for place in PLACES:
        with suppress(OSError):
            raise RuntimeError(f"let through: {place} holds {len(os.listdir(place))} names")
    return x * 2
