"""another_length_bad: returns a third tensor from the second call on.

mechanism  a first call has the two results that are due; a caller that unpacks those of a later call gets three.
what shows each tensor is right where it is compared alone, and so is the first call: only the number changes.
"""

import torch

_calls = []


def forward(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Adds the sum of both once it has been called."""
    _calls.append(None)
    double, square = x * 2, x * x
    return (double, square) if len(_calls) == 1 else (double, square, double + square)
