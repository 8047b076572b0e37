"""How a request travels between the kit's own processes: its length, its JSON, and the descriptors that go with it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

LENGTH = struct.Struct("=Q")
MOST_DESCRIPTORS = 4
RAISED = 70
"""The exit code of a process whose session raised something; its traceback is the last thing it printed."""


def send(channel: socket.socket, request: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Writes one request. Raises OSError where nobody takes it."""
    data = json.dumps(request).encode()
    socket.send_fds(channel, [LENGTH.pack(len(data))], descriptors)
    channel.sendall(data)


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next request and its descriptors, which are the caller's to close; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(channel, LENGTH.size, MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
    head += _exactly(channel, LENGTH.size - len(head)) if head else b""
    data = _exactly(channel, LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data:
        return None
    request: dict[str, Any] = json.loads(data)
    return request, list(descriptors)


def _exactly(channel: socket.socket, size: int) -> bytes:
    """So many bytes; fewer where the channel ends."""
    got = bytearray()
    while len(got) < size and (chunk := channel.recv(size - len(got))):
        got += chunk
    return bytes(got) if len(got) == size else b""
