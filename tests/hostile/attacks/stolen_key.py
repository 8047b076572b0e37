"""Attack: a thread takes the next key from the socket before the kit's code gets it, and seals an event with it.
Wall: no other thread of Python runs while a key is about; it is seen who waits on though a key was sent
Outcome: channel error: a key was taken by others
"""

import hashlib
import os
import socket
import struct
import threading
from contextlib import suppress

import torch

MESSAGE = struct.Struct("=cB6xQ16sQ32s")
GRANT = struct.Struct("=16sQ32s32s")
EVENT = b'{"step":0,"returned":"Tensor"}'


def channels() -> list[socket.socket]:
    """A GPU's driver may have sockets of that kind too."""
    found = []
    for number in range(3, 512):
        with suppress(OSError):
            one = socket.socket(fileno=os.dup(number))
            if one.type == socket.SOCK_SEQPACKET:
                found.append(one)
            else:
                one.close()
    return found


def steal(socket_: socket.socket) -> None:
    nonce, sequence, key, _ = GRANT.unpack(socket_.recv(GRANT.size))
    head = MESSAGE.pack(b"M", 1, sequence, nonce, len(EVENT), bytes(32))[:-32]
    tag = hashlib.blake2b(head + EVENT, key=key, digest_size=32).digest()
    socket_.send(struct.pack("=c7xQ", b"D", sequence) + EVENT)
    socket_.send(head + tag)


READERS = [threading.Thread(target=steal, args=(one,), daemon=True) for one in channels()]
for reader in READERS:
    reader.start()


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
