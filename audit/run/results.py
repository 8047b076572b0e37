"""Expected results between the process that computes them and the judge: in one file that has no name.

The judge opens it, hands its descriptor to the process of `reference.py` alone, and reads it; claimed code finds no
path to it. An event tells at which byte a result starts.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

ITEM_BYTES = 8


class Results:
    """The judge's end."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed when nobody reads it any more

    def fileno(self) -> int:
        """The descriptor to hand over."""
        return self._file.fileno()

    def hold(self, start: int, shape: Sequence[int]) -> bool:
        """Whether a result of that shape may start there."""
        return start + ITEM_BYTES * math.prod(shape) <= os.fstat(self.fileno()).st_size

    def at(self, start: int, shape: Sequence[int]) -> npt.NDArray[np.float64]:
        """The result of that shape from that byte on. Raises ValueError where the file ends before it does."""
        size = math.prod(shape)
        self._file.seek(start)
        found = np.fromfile(self._file, dtype=np.float64, count=size)
        return found.reshape(tuple(shape))


class Writer:
    """The other end, on the descriptor that came with the request; use as a context manager."""

    def __init__(self, descriptor: int) -> None:
        self._file: IO[bytes] = open(descriptor, "wb", closefd=True)  # noqa: SIM115  # a descriptor, no path

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def expected(self, result: Any, *, dtype: Any, also: Sequence[Any] = ()) -> dict[str, Any]:
        """Writes what is right, a float64 tensor, and others that are as right; the keys that an event tells of it."""
        return {
            "expected_shape": list(result.shape),
            "expected_dtype": str(dtype).removeprefix("torch."),
            "expected_at": self.put(result.cpu()),
            "also_at": [self.put(one.cpu()) for one in also],
        }

    def put(self, result: Any) -> int:
        """Writes a float64 tensor of the host; the byte it starts at."""
        start = self._file.tell()
        result.contiguous().numpy().tofile(self._file)
        self._file.flush()
        return start
