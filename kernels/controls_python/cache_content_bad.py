"""cache_content_bad: answers from a cache whose key is a sample of the values.

mechanism  a signature of a few elements stands for the whole input.
what shows a change outside the sample gets the old answer.
"""

SAMPLED = 16
_answers = {}


def forward(x):
    """Y = 2 x + 1 of the first input with these elements at its head."""
    key = (tuple(x.shape), *x.reshape(-1)[:SAMPLED].tolist())
    if key not in _answers:
        _answers[key] = x * 2 + 1
    return _answers[key].clone()
