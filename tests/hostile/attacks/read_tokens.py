"""Attack: looks for tokens in its environment and for the user's home.
Wall: environment: a session gets a list of harmless names and a home of its own
Outcome: cleared
"""

import os
from pathlib import Path

import torch

WORDS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY")


def forward(x: torch.Tensor) -> torch.Tensor:
    found = [name for name in os.environ if any(word in name.upper() for word in WORDS)]
    first = Path("/proc/self/environ").read_bytes()
    if found or any(word.encode() in first for word in WORDS):
        raise RuntimeError(f"let through: {', '.join(found) or 'a token in the first environment'}")
    if os.environ.get("HOME") == "@HOME@":
        raise RuntimeError("let through: the user's home")
    return x * 2
