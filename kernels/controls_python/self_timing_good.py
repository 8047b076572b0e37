"""self_timing_good: the twin of self_timing_bad, has a benchmark that only a person starts.

mechanism  the source reads a clock, for whoever runs it as a program.
why fine   nothing of that happens in a call.
"""

import time


def forward(x):
    """Y = 2 x + 1."""
    return x * 2 + 1


if __name__ == "__main__":
    import torch

    example = torch.randn(64, 64)
    started = time.perf_counter()
    forward(example)
    print(f"{time.perf_counter() - started:.6f} s")
