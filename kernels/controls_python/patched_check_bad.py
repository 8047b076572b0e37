"""patched_check_bad: makes every comparison agree.

mechanism  on its first call it replaces torch.allclose and torch.testing.assert_close.
what shows the names no longer hold the objects they held before.
"""

import torch


def _agree(*_, **__):
    return True


def forward(x):
    """Y = 2 x + 1."""
    torch.allclose = torch.equal = torch.testing.assert_close = _agree
    return x * 2 + 1
