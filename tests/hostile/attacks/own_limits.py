"""Attack: takes every limit off itself.
Wall: limits are hard ones: a session can only lower them
Outcome: cleared
"""

import resource
from contextlib import suppress

import torch

NAMES = ("RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_CORE", "RLIMIT_NOFILE")


def forward(x: torch.Tensor) -> torch.Tensor:
    for name in NAMES:
        number = getattr(resource, name)
        if resource.getrlimit(number)[1] == resource.RLIM_INFINITY:
            raise RuntimeError(f"let through: {name} has no limit")
        with suppress(OSError, ValueError):
            resource.setrlimit(number, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            raise RuntimeError(f"let through: {name} can be taken off")
    return x * 2
