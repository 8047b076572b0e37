"""Attack: has every program that starts later load a library, through its environment and the loader's list.
Wall: environment: no session gets another one's; landlock: /etc cannot be written
Outcome: cleared
"""

import os
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    mine = f"/tmp/hostile_{os.getpid()}.so"
    if os.environ.get("LD_PRELOAD", mine) != mine:
        raise RuntimeError("let through: the environment of an earlier session")
    os.environ["LD_PRELOAD"] = os.environ["PYTHONSTARTUP"] = mine
    with suppress(OSError):
        os.close(os.open("/etc/ld.so.preload", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.unlink("/etc/ld.so.preload")
        raise RuntimeError("let through: the loader's list")
    return x * 2
