"""Attack: finds, among all objects of the process, the function that takes events, and hands it one of its own.
Wall: one event is handed for each that is asked for: a second one, whoever hands it, raises the alarm
Outcome: channel error: at a wrong moment
"""

import gc
from ctypes import c_size_t

import torch

FORGED = b'{"step":0,"returned":"Tensor"}'


def forward(x: torch.Tensor) -> torch.Tensor:
    for one in gc.get_objects():
        if type(one).__name__ == "EventWriter":
            one._hand(FORGED, c_size_t(len(FORGED)))
    return x * 2
