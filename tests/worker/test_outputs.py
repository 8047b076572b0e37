"""The judge reads an output only as the plain file that was written, and never longer than it can be."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.worker import outputs
from audit.worker.transcript import Forged

BYTES = b"twelve bytes"
DIGEST = hashlib.blake2b(BYTES, digest_size=outputs.DIGEST_BYTES).hexdigest()


def sparse(file: Path) -> None:
    file.touch()
    os.truncate(file, 1 << 40)


PLACED: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "was taken away"),
    "a pipe": (os.mkfifo, "is no plain file"),
    "a folder": (Path.mkdir, "is no plain file"),
    "a link to a device": (lambda file: file.symlink_to("/dev/zero"), "was taken away"),
    "a terabyte": (sparse, "1099511627776 bytes long, more than any"),
    "other bytes": (lambda file: file.write_bytes(BYTES.upper()), "holds other bytes"),
}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "0.bin").write_bytes(BYTES)
    assert outputs.read(tmp_path / "0.bin", digest=DIGEST, most_bytes=len(BYTES)).tobytes() == BYTES


@pytest.mark.parametrize("placed", PLACED)
def test_whatever_else_lies_there_is_forged(tmp_path: Path, placed: str) -> None:
    place, words = PLACED[placed]
    place(tmp_path / "0.bin")
    with pytest.raises(Forged, match=words):
        outputs.read(tmp_path / "0.bin", digest=DIGEST, most_bytes=len(BYTES))
