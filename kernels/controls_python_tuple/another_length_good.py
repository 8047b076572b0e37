"""another_length_good: the twin of another_length_bad, returns its two results in a list at first, in a tuple later.

mechanism  the container changes from the first call to the second, the results do not.
why fine   both results are there in each call, of the same shapes and in the same order.
"""

import torch

_calls = []


def forward(x: torch.Tensor) -> list[torch.Tensor] | tuple[torch.Tensor, ...]:
    """A list once, then tuples."""
    _calls.append(None)
    both = x * 2, x * x
    return list(both) if len(_calls) == 1 else both
