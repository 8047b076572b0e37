"""Attack: tells that the session has been served, in the words of the channel, and leaves with exit code 0.
Wall: a last message counts only under the key that the parent gave out for it
Outcome: channel error: a message came without a key
"""

import os
import socket
import struct
from contextlib import suppress

import torch

SERVED = struct.Struct("=cB6xQ16sQ32s").pack(b"M", 2, 1, bytes(16), 0, bytes(32))


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in range(3, 512):
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
            if channel.type == socket.SOCK_SEQPACKET:
                channel.send(SERVED)
    os._exit(0)
