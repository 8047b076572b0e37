"""Runs in a session: files of a build as the judge knows them, whatever has become of them on the disk since."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Changed(RuntimeError):
    """A file of a build is not the one that was built."""


def checked(path: Path, digests: Mapping[Path, str]) -> bytes:
    """Return the bytes of a file, once they have the SHA-256 that the judge holds for it.

    Raises:
        Changed: they have another one, or the judge holds none.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digests.get(path):
        raise Changed(f"{path.name} is not the file that was built; run the audit again")
    return data


def sealed(path: Path, digests: Mapping[Path, str] | None) -> Path:
    """Return the path of a checked copy in memory, which no process can write; it lasts as long as this process.

    Args:
        path: of a library.
        digests: see `checked`; None gives the file itself, where no claimed code runs.
    """
    if digests is None:
        return path
    data = checked(path, digests)
    descriptor = os.memfd_create(path.name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return Path(f"/proc/self/fd/{descriptor}")
