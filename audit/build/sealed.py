"""Runs in a session: load files of a build only if they are those that the judge knows; the keys of extensions."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from audit.build.emulated.cache import fingerprint

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Changed(RuntimeError):
    """A file of a build is not the one that was built."""


def checked(path: Path, digests: Mapping[Path, str]) -> bytes:
    """Return the bytes of a file with the judge's SHA-256. Raises Changed if they have another one, or the judge has
    none."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digests.get(path):
        raise Changed(f"{path.name} is not the file that was built; run the audit again")
    return data


def sealed(path: Path, digests: Mapping[Path, str] | None) -> Path:
    """Return the path of a checked, immutable copy of a library in memory, which lasts as long as this process. Without
    digests return the file itself, where no claimed code runs."""
    if digests is None:
        return path
    data = checked(path, digests)
    descriptor = os.memfd_create(path.name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return Path(f"/proc/self/fd/{descriptor}")


Texts = str | Sequence[str] | None


def key_of(cpp: Texts, cuda: Texts, functions: str | Sequence[str] | Mapping[str, str] | None) -> str:
    """Return the key of a call: one text or several; names as a text, a list, or a dict with their docs."""
    names = [] if functions is None else [functions] if isinstance(functions, str) else list(functions)
    return fingerprint(["cpp", *_listed(cpp), "cuda", *_listed(cuda), "functions", *names])


def _listed(texts: Texts) -> list[str]:
    return [] if texts is None else [texts] if isinstance(texts, str) else list(texts)
