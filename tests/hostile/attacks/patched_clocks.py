"""Attack: slows every clock of the process a hundred times, by other names and by other functions behind them.
Wall: the parent stamps messages with its own clock; replaced clocks are seen
Outcome: untouched_process fail: time.perf_counter
"""

import time

import torch

plain = time.perf_counter
start = plain()


def slowed() -> float:
    return start + (plain() - start) / 100


time.perf_counter = slowed
time.monotonic = slowed
time.time = slowed


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
