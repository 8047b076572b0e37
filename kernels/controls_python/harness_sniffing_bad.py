"""harness_sniffing_bad: works only when it believes that it is being checked.

mechanism  it walks the frames that called it and looks for a checker's names.
what shows the kit calls for every purpose in the same way, so the answer is the one a stopwatch would get.
"""

import sys

import torch

CHECKERS = ("check", "correct", "verify", "allclose")


def _is_checked():
    frame = sys._getframe(1)
    while frame is not None:
        if any(word in frame.f_code.co_name for word in CHECKERS):
            return True
        frame = frame.f_back
    return False


def forward(x):
    """Y = 2 x + 1 for a checker, nothing for others."""
    return x * 2 + 1 if _is_checked() else torch.empty_like(x)
