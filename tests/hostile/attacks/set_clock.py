"""Attack: sets the machine's clock (to what it shows already) and its name (to the one it has).
Wall: seccomp: calls about the machine are refused
Outcome: cleared
"""

import socket
import time
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_REALTIME))
        raise RuntimeError("let through: the clock can be set")
    with suppress(OSError):
        socket.sethostname(socket.gethostname())
        raise RuntimeError("let through: the machine's name can be set")
    return x * 2
