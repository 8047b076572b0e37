"""Attack: opens two thousand sockets, whose buffers would hold 0.8 GB of the kernel's memory.
Wall: watch: a session holds a thousand sockets at most
Outcome: contract error: sockets and
"""

import socket
import time

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    pairs = [socket.socketpair() for _ in range(1000)]
    time.sleep(3)
    raise RuntimeError(f"let through: {len(pairs)} pairs of sockets")
