"""Attack: asks for the key that is due and goes on, so that whoever waits for it does not look at what it prints.
Wall: the watch over a session goes on while a key is due; what a session prints is cut off
Outcome: contract error: printed more than
"""

import os
import socket
import struct
from contextlib import suppress

import torch

ASK = struct.Struct("=c7xQ")
MOST, PIECE = 4 << 30, b"all is well\n" * 100_000


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in range(3, 512):
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
            if channel.type == socket.SOCK_SEQPACKET:
                channel.send(ASK.pack(b"A", 1))
    written = 0
    while written < MOST:
        written += os.write(1, PIECE)
    raise RuntimeError(f"let through: {written >> 30} GB")
