"""Attack: registers handlers that write on every descriptor when the process ends.
Wall: a session's process is ended without its exit handlers, after its last message, and listened to no more
Outcome: cleared
"""

import atexit
import os
import weakref
from contextlib import suppress

import torch


class Kept:
    pass


def forge() -> None:
    for number in range(3, 256):
        with suppress(OSError):
            os.write(number, b'{"served": true}\n')


kept = Kept()
atexit.register(forge)
weakref.finalize(kept, forge)


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
