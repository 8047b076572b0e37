"""The transport between the kit's own processes.

A request is its length, its JSON, and descriptors; a reply is a line of JSON.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, TypeAdapter

from audit.model.base import Frozen
from audit.run import requests, timing_requests

LENGTH = struct.Struct("=Q")
MOST_DESCRIPTORS = 4
FORK, SETTLE = b"f", b"s"
"""The judge's commands to the fork server: fork a supervisor for two descriptors; end all descendants."""
RAISED = 70
"""The exit code of a process whose session raised an exception, after its traceback."""


AnyRequest = Annotated[
    requests.Release
    | requests.SandboxCheck
    | requests.Session
    | requests.Launches
    | requests.Cases
    | requests.Variations
    | requests.Work
    | requests.Described
    | requests.Sized
    | timing_requests.Interleaved
    | timing_requests.Published
    | timing_requests.Alone
    | timing_requests.Compiled,
    Field(discriminator="kind"),
]
_PARSED: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)


class Ended(Frozen):
    """How a session ended, as its supervisor saw it.

    Attributes:
        finished: it ran to its end, and its process goes on; otherwise the process is over.
        lines: the events, JSON.
        arrived_s: the arrival of each by the supervisor's clock, in seconds since the request.
        violation: the protocol violation in words, if any.
        timed_out: it exceeded the limit of its request.
        stopped: the exceeded bound, in words.
        signal: the signal that ended the process.
        exit: the exit code of the process.
        prints: the end of its standard output and error.
    """

    finished: bool
    lines: tuple[str, ...] = ()
    arrived_s: tuple[float, ...] = ()
    violation: str | None = None
    timed_out: bool = False
    stopped: str | None = None
    signal: int | None = None
    exit: int | None = None
    prints: str = ""


def send(channel: socket.socket, request: requests.Request, descriptors: Sequence[int] = ()) -> None:
    """Write one request. Raises OSError where the other end is closed."""
    data = request.model_dump_json().encode()
    socket.send_fds(channel, [LENGTH.pack(len(data))], descriptors)
    channel.sendall(data)


def receive(channel: socket.socket) -> tuple[AnyRequest, list[int]] | None:
    """Return the next request and its descriptors, which the caller closes; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(channel, LENGTH.size, MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
    head += _exactly(channel, LENGTH.size - len(head)) if head else b""
    data = _exactly(channel, LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    return (parsed(data), list(descriptors)) if data else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    """Return `size` bytes; none where the channel ends before."""
    got = bytearray()
    while len(got) < size and (chunk := channel.recv(size - len(got))):
        got += chunk
    return bytes(got) if len(got) == size else b""


def parsed(text: str | bytes) -> AnyRequest:
    """Return the request of a JSON text. Raises ValidationError, which names the key at fault."""
    return _PARSED.validate_json(text)
