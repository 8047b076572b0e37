"""Attack: connects to a server that listens on this machine, sends a datagram, and listens itself.
Wall: seccomp: no sockets but those of the machine's own kind
Outcome: cleared
"""

import socket
from contextlib import suppress

import torch

ADDRESS = ("127.0.0.1", int("@PORT@"))


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError), socket.create_connection(ADDRESS, timeout=1):
        raise RuntimeError("let through: a connection")
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"secret", ADDRESS)
        raise RuntimeError("let through: a datagram")
    with suppress(OSError), socket.create_server(("127.0.0.1", 0)):
        raise RuntimeError("let through: a server")
    return x * 2
