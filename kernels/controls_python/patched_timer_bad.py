"""patched_timer_bad: replaces the clocks a benchmark reads.

mechanism  on import it puts functions of its own in the place of the host clock and of the event clock.
what shows the names no longer hold the objects they held before the source was loaded.
"""

import time

import torch

SLOWER = 0.01
_clock, _started = time.perf_counter, time.perf_counter()

time.perf_counter = lambda: _started + (_clock() - _started) * SLOWER
torch.cuda.Event.elapsed_time = lambda *_: 1e-3


def forward(x):
    """Y = 2 x + 1."""
    return x * 2 + 1
