"""In a session's process: send events to its supervisor, and write files.

The functions that send, serialise and write are bound before claimed code is loaded.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from json import encoder
from pathlib import Path
from typing import Any

import torch

from audit.run.messages import results
from audit.run.messages.wire import BEGUN, EVENT, HEADER, NONCE_BYTES, PART, SERVED

CHUNK = 48 << 10
LOWEST, SPREAD = 48, 64
"""The channel's descriptor is one of `SPREAD` numbers from `LOWEST` on, above those that programs expect."""
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Event = dict[str, Any]


class EventWriter:
    """The child's end of the channel; opened after the fork.

    `tell` sends an event of the session being served at once, where the process ends before its iterator could.
    """

    tell: Callable[[Event], None]

    def __init__(self) -> None:
        self._encode = _encoder()

    def open(self, descriptor: int) -> None:
        """Send on that socket from now on, under another number. Raises OSError."""
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, LOWEST + secrets.randbelow(SPREAD))
        os.close(descriptor)
        channel = socket.socket(fileno=moved)
        self._send, self._receive = channel.send, channel.recv

    def serve(self, events: Iterator[Event]) -> None:
        """Send the events of a session. Raises any exception of the iterator, and OSError where the channel is closed,
        or has no nonce since a session is being served."""
        nonce, numbers = self._receive(NONCE_BYTES, socket.MSG_DONTWAIT), count()
        send, packed, encode = self._send, HEADER.pack, self._encode

        def tell(event: Event) -> None:
            data = "".join(encode(event, 0)).encode("ascii")
            *parts, last = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
            for part in parts:
                send(packed(PART, next(numbers), nonce) + part)
            send(packed(EVENT, next(numbers), nonce) + last)

        send(packed(BEGUN, next(numbers), nonce))
        self.tell = tell
        for event in events:
            tell(event)
        send(packed(SERVED, next(numbers), nonce))

    @staticmethod
    def keep(file: Path, tensor: torch.Tensor) -> str:
        """Write the bytes of a contiguous host tensor to a new file in place of an old one; return `results.digest_of`.
        Raises OSError: the file cannot be written."""
        data = memoryview(_numpy(_viewed(_flat(tensor, -1), torch.uint8)))  # type: ignore[arg-type]
        with suppress(FileNotFoundError):
            _unlink(file)
        descriptor = _open(file, NEW_FILE, 0o600)
        try:
            written = 0
            while written < len(data):
                written += _write(descriptor, data[written:])
        finally:
            _close(descriptor)
        return _digest(data)


_flat, _viewed, _numpy = torch.Tensor.reshape, torch.Tensor.view, torch.Tensor.numpy
_unlink, _open, _write, _close, _digest = os.unlink, os.open, os.write, os.close, results.digest_of


def _encoder() -> Any:
    """Return the C encoder of `json`, without a name that claimed code can replace; it refuses NaN and infinities."""
    make = encoder.c_make_encoder  # type: ignore[attr-defined]
    quote = encoder.encode_basestring_ascii
    return make(None, _refused, quote, None, ":", ",", False, False, False)


def _refused(value: object) -> None:
    raise TypeError(f"an event cannot hold a {type(value).__name__}")
