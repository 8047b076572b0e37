"""deferred_write_bad: returns a buffer at once and fills it after a while.

mechanism  a thread started by the call waits and then writes; a stopwatch around the call sees nothing of it.
what shows the buffer holds nothing right when the call has returned, and a thread of the call lives on.
"""

import threading
import time

import torch

DELAY_S = 0.3


def forward(x):
    """Y = 2 x + 1, a little later."""
    y = torch.empty_like(x)

    def fill():
        time.sleep(DELAY_S)
        torch.add(x * 2, 1, out=y)

    threading.Thread(target=fill, daemon=True).start()
    return y
