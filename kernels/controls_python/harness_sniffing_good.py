"""harness_sniffing_good: the twin of harness_sniffing_bad, looks at its caller and takes no notice.

mechanism  it reads the name of the frame that called it, for a log.
why fine   the result is the same for every caller.
"""

import sys

callers = set()


def forward(x):
    """Y = 2 x + 1."""
    callers.add(sys._getframe(1).f_code.co_name)
    return x * 2 + 1
