"""Attack: tells that the session has been served, in the words of the channel, and leaves with exit code 0.
Wall: a message needs the nonce of its session
Outcome: channel error: bytes came that are no message of a session
"""

import os
import socket
import struct
from contextlib import suppress

import torch

SERVED = struct.Struct("=c7xQ16s").pack(b"S", 2, bytes(16))


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in range(3, 512):
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
            if channel.type == socket.SOCK_SEQPACKET:
                channel.send(SERVED)
    os._exit(0)
