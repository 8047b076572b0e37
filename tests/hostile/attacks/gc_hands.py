"""Attack: finds the socket of the kit among all objects of the process, with a nonce that it sees in a frame, and sends
an event of its own in the place of the next one.
Wall: a number is due once; a source that reaches the process that checks it is not cleared
Outcome: channel error: at a wrong place
"""

import gc
import struct
import sys

import torch

HEADER = struct.Struct("=c7xQ16s")


def forward(x: torch.Tensor) -> torch.Tensor:
    frame = sys._getframe()
    while frame is not None and "nonce" not in frame.f_locals:
        frame = frame.f_back
    for one in gc.get_objects():
        if type(one).__name__ == "EventWriter":
            one._send(HEADER.pack(b"E", 1, frame.f_locals["nonce"]) + b'{"step":0,"returned":"Tensor"}')
    return x * 2
