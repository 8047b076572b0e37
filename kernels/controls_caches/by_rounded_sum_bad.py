"""by_rounded_sum_bad: answers from a cache whose key weighs every element, rounded to an eighth.

mechanism  an element that moves, or changes its place, changes the key; the rounding makes the key cheap to compare.
what shows an element that moves by less than the rounding keeps the key, and the answer.
"""

import torch

_answers = {}


def _key(one):
    weights = torch.arange(1, one.numel() + 1, dtype=torch.float64, device=one.device)
    return float((8.0 * one.reshape(-1).double()).round() @ weights)


def forward(x, parameters):
    """Y = x W + b of the first inputs with these rounded sums."""
    key = tuple(_key(one) for one in (x, parameters["weight"], parameters["bias"]))
    if key not in _answers:
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key].clone()
