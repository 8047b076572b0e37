"""cache_address_good: the twin of cache_address_bad, remembers addresses and no answers.

mechanism  a set of the addresses it was called with, to count how many different tensors there were.
why fine   the result never depends on it.
"""

_addresses = set()


def forward(x):
    """Y = 2 x + 1."""
    _addresses.add(x.data_ptr())
    return x * 2 + 1
