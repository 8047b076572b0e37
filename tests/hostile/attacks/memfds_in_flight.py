"""Attack: leaves files of memory, 3 GiB at most, to sockets alone, where they are no process's.
Wall: calls: a session sends no descriptors
Outcome: cleared
"""

import os
import socket

import torch

MOST_BYTES, PIECE = 3 << 30, 64 << 20


def forward(x: torch.Tensor) -> torch.Tensor:
    piece, pairs = bytes(PIECE), []
    for _ in range(MOST_BYTES // PIECE if x.numel() == 3 else 0):
        memory = os.memfd_create("hostile_memory")
        pairs.append(socket.socketpair())
        try:
            socket.send_fds(pairs[-1][0], [b"x"], [memory])
        except PermissionError:
            return x * 2
        os.write(memory, piece)
        os.close(memory)
    if pairs:
        raise RuntimeError("let through: 3 GiB of memory are nobody's")
    return x * 2
