"""Attack: has a forked child, which shares its memory and descriptors, write on the session's channel.
Wall: the kernel stamps every message with the process that sent it
Outcome: channel error: from another process than the session's
"""

import os
import socket
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    child = os.fork()
    if child == 0:
        for number in range(3, 512):
            with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
                if channel.type == socket.SOCK_SEQPACKET:
                    channel.send(b"S".ljust(32, b"\0"))
        os._exit(0)
    os.waitpid(child, 0)
    return x * 2
