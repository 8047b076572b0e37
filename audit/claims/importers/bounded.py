"""Untrusted files, opened with bounds on their size and on the unpacked size of compressed ones."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any

from audit.model import untrusted
from audit.model.errors import BadInput
from audit.model.untrusted import SOURCE_BYTES, size_of

LIMIT_BYTES = 1 << 31
"""A table, and what a compressed one grows to."""
LARGEST_RATIO = 200
"""Sources and logs shrink to a twentieth; a file that grows by this much is made to."""
RATIO_FROM_BYTES = 16 << 20
"""Below this size no ratio is suspicious."""
SMALL_BYTES, PIECE_BYTES = 1 << 20, 64
"""A compressed file up to that size is unpacked in pieces, so that damage leaves as many rows as stood before it."""
_UNREAD = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zX": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7-zip"}


class Damaged(Exception):
    """A compressed file ends or breaks off; what was read before is sound."""


def opened(path: Path, *, limit_bytes: int = LIMIT_BYTES) -> io.BufferedReader:
    """The file for reading, gzip unpacked on the way; reading past a bound raises BadInput, damage raises Damaged.

    Raises:
        BadInput: as `size_of`, or a compression that is not read here.
    """
    size = size_of(path, limit_bytes=limit_bytes)
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    start = file.peek(4)[:4]
    for magic, name in _UNREAD.items():
        if start.startswith(magic):
            file.close()
            raise BadInput(f"{path}: a {name} file; unpack it first, only gzip is unpacked here")
    if not start.startswith(b"\x1f\x8b"):
        return file
    return io.BufferedReader(_Unpacked(file, path, size=size, limit_bytes=limit_bytes), 1 << 20)


def source_text(path: Path) -> bytes:
    """Return the bytes of one source file, UTF-8. Raises BadInput as `untrusted.data` and `checked_text`."""
    data = untrusted.data(path, limit_bytes=SOURCE_BYTES)
    checked_text(data, where=str(path))
    return data


def checked_text(data: bytes, *, where: str) -> str:
    """Return the text of a source's bytes. Raises BadInput for a large one, no UTF-8, or a NUL; `where` begins it."""
    if len(data) > SOURCE_BYTES:
        raise BadInput(f"{where}: a source of {len(data):,} bytes; at most {SOURCE_BYTES:,} are imported")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    if "\0" in text:
        raise BadInput(f"{where}: holds a NUL character, so it is no source text")
    return text


class _InPieces:
    """A file that is read a few bytes at a time: damage costs what is unpacked from the same piece, and no more."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(PIECE_BYTES if size < 0 else min(size, PIECE_BYTES))

    def seek(self, place: int) -> int:
        return self._file.seek(place)


class _Unpacked(io.RawIOBase):
    """A gzip file that counts what it grows to."""

    def __init__(self, file: IO[bytes], path: Path, *, size: int, limit_bytes: int) -> None:
        self._file, self._path = file, path
        self._plain = gzip.GzipFile(fileobj=file if size > SMALL_BYTES else _InPieces(file))
        self._limit = min(limit_bytes, max(RATIO_FROM_BYTES, LARGEST_RATIO * size))
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._plain.read1(len(buffer))
        except (EOFError, zlib.error, OSError) as error:
            raise Damaged(f"the compressed file breaks off or is damaged ({error})") from error
        self._read += len(data)
        if self._read > self._limit:
            raise BadInput(f"{self._path}: grows past {self._limit:,} bytes when unpacked; it is not read further")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
