"""Attack: puts a function in the place of torch.cuda.Event.elapsed_time that says a hundredth of the time.
Wall: the stopwatch took that method before claimed code came; a replaced one is seen
Outcome: untouched_process fail: torch.cuda.Event.elapsed_time
"""

import torch

plain = torch.cuda.Event.elapsed_time


def forward(x: torch.Tensor) -> torch.Tensor:
    torch.cuda.Event.elapsed_time = lambda start, end: plain(start, end) / 100
    return x * 2
