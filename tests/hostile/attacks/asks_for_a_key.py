"""Attack: asks the parent for the key of the message that is due, in the words of the channel.
Wall: keys are counted, and given only to a thread that waits where the kit's own code waits
Outcome: channel error: a key was asked for before the last one was used
"""

import os
import socket
import struct
from contextlib import suppress

import torch

ASK = struct.Struct("=c7xQ")
calls = 0


def forward(x: torch.Tensor) -> torch.Tensor:
    global calls
    calls += 1
    for number in range(3, 512):
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as channel:
            if channel.type == socket.SOCK_SEQPACKET:
                channel.send(ASK.pack(b"A", calls))
    return x * 2
