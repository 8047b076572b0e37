"""Attack: sends long messages without end over the session's channel.
Wall: the first message that is none ends the session; nothing of it is kept
Outcome: channel error: bytes came that are no message of a session
"""

import os
import socket
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in range(3, 512):
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
            while channel.type == socket.SOCK_SEQPACKET:
                channel.send(b"[" * 60_000)
    return x * 2
