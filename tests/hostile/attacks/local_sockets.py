"""Attack: talks to a service of the user through its socket in a folder, as agents of keys have, and by name alone.
Wall: seccomp: a session connects to nobody
Outcome: cleared
"""

import socket
from contextlib import suppress

import torch

NAMES = ("@OTHERS@/agent.sock", "\0hostile_agent_@PORT@")


def forward(x: torch.Tensor) -> torch.Tensor:
    for name in NAMES:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as one:
            one.settimeout(1)
            one.connect(name)
            raise RuntimeError(f"let through: a connection to {name!r}")
    return x * 2
