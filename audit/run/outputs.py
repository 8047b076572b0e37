"""The judge's side: an output that a session left, as the very bytes its native code wrote there."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import numpy.typing as npt

from audit.run.transcript import Forged

DIGEST_BYTES = 32


def read(file: Path, *, digest: str, most_bytes: int) -> npt.NDArray[np.uint8]:
    """The bytes of a file, once its BLAKE2b digest is seen to be the one that was told when it was written.

    Raises:
        Forged: it is no plain file, longer than `most_bytes`, or other bytes than those.
    """
    with os.fdopen(_opened(file, most_bytes), "rb") as opened:
        data = np.fromfile(opened, dtype=np.uint8)
    if hashlib.blake2b(data.data, digest_size=DIGEST_BYTES).hexdigest() != digest:
        raise Forged(f"the output {file.name} holds other bytes than the session wrote")
    return data


def _opened(file: Path, most_bytes: int) -> int:
    """A descriptor of a plain file that is not too long: it need not hold what it says it is long."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Forged(f"the output {file.name} was taken away ({error.strerror})") from None
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size <= most_bytes:
        return descriptor
    os.close(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise Forged(f"the output {file.name} is no plain file any more")
    raise Forged(f"the output {file.name} is {found.st_size} bytes long, more than any of its shape")
