"""Files between a session and the judge: right results in an unlinked file, outputs checked by their digest.

The judge opens the file of right results and passes its descriptor to the process of `reference.py` alone; claimed code
finds no path to it. An event has the offset of its result. An output counts only with the digest that the session sent.
"""

from __future__ import annotations

import math
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import xxhash

from audit.run.messages.wire import ProtocolViolation
from audit.sandbox.limits import GIB, of_this_machine

ITEM_BYTES = 8


def readable_bytes() -> int:
    """Return the most bytes the judge reads of one file: half of a session's memory limit."""
    return of_this_machine().memory // 2


class Results:
    """The judge's end."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with its last reader

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._file.fileno()

    @property
    def too_large(self) -> str | None:
        """Why the judge does not read the file, in words: it is too long; None if it is not."""
        size, most = os.fstat(self.fileno()).st_size, readable_bytes()
        return f"left {size / GIB:.1f} GiB of right results; {most / GIB:.1f} are read" if size > most else None

    def hold(self, start: int, shape: Sequence[int]) -> bool:
        """Return whether the file has a float64 result of that shape from that byte on."""
        return start + ITEM_BYTES * math.prod(shape) <= os.fstat(self.fileno()).st_size

    def at(self, start: int, shape: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the result of that shape from that byte on. Raises ValueError where the file is too short."""
        with os.fdopen(os.open(f"/proc/self/fd/{self.fileno()}", os.O_RDONLY), "rb") as own:  # a position of its own
            own.seek(start)
            found = np.fromfile(own, dtype=np.float64, count=math.prod(shape))
        return found.reshape(tuple(shape))


class Writer:
    """The other end, on the descriptor that came with the request; use as a context manager."""

    def __init__(self, descriptor: int) -> None:
        self._file: IO[bytes] = open(descriptor, "wb", closefd=True)  # noqa: SIM115  # a descriptor, no path

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def expected(self, result: Any, *, dtype: str, also: Sequence[Any] = ()) -> dict[str, Any]:
        """Write the right result, a float64 tensor, and alternatives to it; return the keys of its event."""
        return {
            "expected_shape": list(result.shape),
            "expected_dtype": dtype,
            "expected_at": self.put(result.cpu()),
            "also_at": [self.put(one.cpu()) for one in also],
        }

    def put(self, result: Any) -> int:
        """Write a float64 tensor of the host; return its offset in bytes."""
        start = self._file.tell()
        result.contiguous().numpy().tofile(self._file)
        self._file.flush()
        return start


digest_of: Callable[[Any], str] = xxhash.xxh3_128_hexdigest
"""XXH3 of 128 bits, hexadecimal. A cryptographic one would prove no more: an output's own process sends it."""


def read(file: Path, *, digest: str, most_bytes: int) -> npt.NDArray[np.uint8]:
    """Return the bytes of a file with the digest of its event. Raises ProtocolViolation: the file is not regular,
    longer than `most_bytes` or `readable_bytes`, or has another digest."""
    with os.fdopen(_opened(file, most_bytes), "rb") as opened:
        data = np.fromfile(opened, dtype=np.uint8)
    if digest_of(data) != digest:
        raise ProtocolViolation(f"the output {file.name} holds other bytes than the session wrote")
    return data


def _opened(file: Path, most_bytes: int) -> int:
    """Open a regular file that is not too long."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ProtocolViolation(f"the output {file.name} was taken away ({error.strerror})") from None
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size <= min(most_bytes, readable_bytes()):
        return descriptor
    os.close(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise ProtocolViolation(f"the output {file.name} is no plain file any more")
    what = "any of its shape" if found.st_size > most_bytes else "the judge reads"
    raise ProtocolViolation(f"the output {file.name} is {found.st_size} bytes long, more than {what}")
