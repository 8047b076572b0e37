"""Attack: ignores and blocks every signal there is, and never returns.
Wall: wall-clock limit of a session, ended by SIGKILL
Outcome: contract error: did not finish within 2 s
Outcome on cuda: contract error: did not finish within 10 s
"""

import signal
import time
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in signal.valid_signals():
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(1000)
