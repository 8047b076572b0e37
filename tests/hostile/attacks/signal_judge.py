"""Attack: stops, interrupts and kills the judge by its number.
Wall: processes: a session does not see those outside, or may send them no signal
Outcome: cleared
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import torch

JUDGE = int("@JUDGE@")


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        if b"hostile" in Path(f"/proc/{JUDGE}/cmdline").read_bytes():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                os.kill(JUDGE, number)
    return x * 2
