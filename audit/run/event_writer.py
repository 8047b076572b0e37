"""In a session's process: the one way to send events, through native code of ours, and to leave files.

`EventWriter.serve` hands control to that code, which asks for one event after another: everything a session does,
claimed code included, runs below it, so that any other caller of it is seen. It holds the interpreter's lock while it
seals, so no other thread of Python runs as long as a key exists. The functions that serialise are captured before
claimed code is loaded.
"""

from __future__ import annotations

import ctypes
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from json import encoder
from pathlib import Path
from typing import Any

import torch

from audit.run import results

RAISED, OVER, MORE = -1, 0, 1
SERVED, BROKEN = 0, 1
LOWEST, SPREAD = 48, 64
"""The channel's descriptor is one of `SPREAD` numbers from `LOWEST` on: none that a shell or a program counts on."""
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Event = dict[str, Any]


class ParentGone(Exception):
    """The trusted parent no longer reads the channel."""


class EventWriter:
    """The native library of `supervisors.library` in this process; made before the fork, opened after it."""

    def __init__(self, library: str) -> None:
        native = ctypes.PyDLL(library)
        self._open, self._hold = native.seal_open, native.seal_hold
        self._hand = native.seal_hand
        self._next = ctypes.PYFUNCTYPE(ctypes.c_int)
        self._encode = _encoder()

    def open(self, descriptor: int) -> None:
        """Send on that socket from now on, under another number. Raises OSError."""
        failed = self._open(descriptor, LOWEST + secrets.randbelow(SPREAD))
        if failed:
            raise OSError(failed, "the session's channel cannot be opened")

    def serve(self, events: Iterator[Event]) -> None:
        """Send the events as they come. Raises what the iterator raises; ParentGone where the channel is closed."""
        raised: list[BaseException] = []
        hand, encode, take = self._hand, self._encode, iter(events).__next__

        def step() -> int:
            try:
                data = "".join(encode(take(), 0)).encode("ascii")
            except StopIteration:
                return OVER
            except BaseException as error:  # native code lies between here and the handler
                raised.append(error)
                return RAISED
            return MORE if hand(data, ctypes.c_size_t(len(data))) == 0 else RAISED

        ended = self._hold(self._next(step))
        if raised:
            raise raised[0]
        if ended != SERVED:
            raise ParentGone("what this session tells is no longer taken")

    @staticmethod
    def keep(file: Path, tensor: torch.Tensor) -> str:
        """Write the bytes of a contiguous tensor of the host to a new file, whatever had that name before; return their
        `results.digest_of`.

        Raises:
            OSError: the file cannot be written.
        """
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
    """Return the encoder inside `json`, without the names it is looked up by; it refuses NaN and infinities."""
    make = encoder.c_make_encoder  # type: ignore[attr-defined]
    quote = encoder.encode_basestring_ascii
    return make(None, _refused, quote, None, ":", ",", False, False, False)


def _refused(value: object) -> None:
    raise TypeError(f"an event cannot hold a {type(value).__name__}")
