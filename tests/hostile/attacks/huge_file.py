"""Attack: one file in its own folder that is said to hold a terabyte.
Wall: disk: no file of a session may be that long
Outcome: cleared
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with suppress(OSError):
        os.truncate(Path(os.environ.get("TMPDIR", "/tmp")).joinpath("hostile_long").open("wb").fileno(), 1 << 40)
        raise RuntimeError("let through: a file of a terabyte")
    return x * 2
