"""Attack: leaves a thread behind that hands events of its own as soon as the call is over.
Wall: events are taken from the session's own thread alone
Outcome: channel error: by another thread
"""

import gc
import threading
import time
from ctypes import c_size_t

import torch

FORGED = b'{"step":0,"returned":"Tensor"}'
WRITERS = [one for one in gc.get_objects() if type(one).__name__ == "EventWriter"]


def hand() -> None:
    time.sleep(0.001)
    for one in WRITERS:
        one._hand(FORGED, c_size_t(len(FORGED)))


def forward(x: torch.Tensor) -> torch.Tensor:
    thread = threading.Thread(target=hand, daemon=True)
    thread.start()
    thread.join()
    return x * 2
