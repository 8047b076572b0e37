"""deferred_write_good: the twin of deferred_write_bad, waits for its thread.

mechanism  a thread started by the call writes the output.
why fine   the call joins it before it returns.
"""

import threading

import torch


def forward(x):
    """Y = 2 x + 1."""
    y = torch.empty_like(x)
    worker = threading.Thread(target=lambda: torch.add(x * 2, 1, out=y))
    worker.start()
    worker.join()
    return y
