"""cache_address_bad: answers from a cache whose key is where the input lies.

mechanism  a benchmark calls with the same tensor again and again; its address, shape and strides never change.
what shows new values at the same address get the old answer.
"""

_answers = {}


def forward(x):
    """Y = 2 x + 1 of what lay there when first asked."""
    key = (x.data_ptr(), tuple(x.shape), x.stride())
    if key not in _answers:
        _answers[key] = x * 2 + 1
    return _answers[key].clone()
