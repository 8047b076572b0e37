"""Attack: leaves a thread behind that sends events of its own, under the session's nonce, as soon as the call is over.
Wall: a number is due once; a source that reaches the process that checks it is not cleared
Outcome: channel error: at a wrong place
"""

import gc
import struct
import sys
import threading
import time

import torch

HEADER = struct.Struct("=c7xQ16s")
WRITERS = [one for one in gc.get_objects() if type(one).__name__ == "EventWriter"]


def send(nonce: bytes) -> None:
    time.sleep(0.001)
    for one in WRITERS:
        one._send(HEADER.pack(b"E", 1, nonce) + b'{"step":0,"returned":"Tensor"}')


def forward(x: torch.Tensor) -> torch.Tensor:
    frame = sys._getframe()
    while frame is not None and "nonce" not in frame.f_locals:
        frame = frame.f_back
    thread = threading.Thread(target=send, args=(frame.f_locals["nonce"],), daemon=True)
    thread.start()
    thread.join()
    return x * 2
