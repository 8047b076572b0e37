"""In a session's process: send events through native code of ours, and write files.

`EventWriter.serve` calls that code, which requests one event after another: the whole session, claimed code included,
runs below it, so any other caller of it is seen. It holds the interpreter's lock while it seals, so no other Python
thread runs while a key exists. The functions that serialise are bound before claimed code is loaded.
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
"""The channel's descriptor is one of `SPREAD` numbers from `LOWEST` on, above those that programs expect."""
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Event = dict[str, Any]


class ParentGone(Exception):
    """The trusted parent no longer reads the channel."""


class EventWriter:
    """The native library of `supervisors.library`; loaded before the fork, opened after it."""

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
        """Send the events. Raises any exception of the iterator, and ParentGone where the channel is closed."""
        raised: list[BaseException] = []
        hand, encode, take = self._hand, self._encode, iter(events).__next__

        def step() -> int:
            try:
                data = "".join(encode(take(), 0)).encode("ascii")
            except StopIteration:
                return OVER
            except BaseException as error:  # cannot pass through the native caller
                raised.append(error)
                return RAISED
            return MORE if hand(data, ctypes.c_size_t(len(data))) == 0 else RAISED

        ended = self._hold(self._next(step))
        if raised:
            raise raised[0]
        if ended != SERVED:
            raise ParentGone("the parent no longer takes events of this session")

    @staticmethod
    def keep(file: Path, tensor: torch.Tensor) -> str:
        """Write the bytes of a contiguous host tensor to a new file in place of an old one; return `results.digest_of`.

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
    """Return the C encoder of `json`, without a name that claimed code can replace; it refuses NaN and infinities."""
    make = encoder.c_make_encoder  # type: ignore[attr-defined]
    quote = encoder.encode_basestring_ascii
    return make(None, _refused, quote, None, ":", ",", False, False, False)


def _refused(value: object) -> None:
    raise TypeError(f"an event cannot hold a {type(value).__name__}")
