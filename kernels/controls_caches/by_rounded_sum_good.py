"""by_rounded_sum_good: the twin of by_rounded_sum_bad, finds an answer by rounded sums and compares the inputs with it.

mechanism  each answer is kept beside the inputs it was computed from.
why fine   an answer is given for inputs that are equal to its own, element by element, and for no others.
"""

import torch

MOST = 64
_answers = {}


def _key(one):
    return float((8.0 * one.double()).round().sum())


def forward(x, parameters):
    """Y = x W + b."""
    given = (x, parameters["weight"], parameters["bias"])
    key = tuple(_key(one) for one in given)
    kept, answer = _answers.get(key, (None, None))
    if kept is None or not all(torch.equal(one, other) for one, other in zip(kept, given, strict=True)):
        if len(_answers) >= MOST:
            _answers.clear()
        answer = torch.addmm(parameters["bias"], x, parameters["weight"])
        _answers[key] = tuple(one.clone() for one in given), answer
    return answer.clone()
