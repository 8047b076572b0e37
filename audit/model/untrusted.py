"""Untrusted files before anything reads them: plain files of a bounded size, gzip too, JSON without duplicate keys."""

from __future__ import annotations

import gzip
import io
import json
import re
import stat
import tomllib
import zlib
from collections import Counter
from pathlib import Path
from typing import IO, Any

from audit.model.errors import BadInput

SOURCE_BYTES, DOCUMENT_BYTES = 4_000_000, 64 << 20
"""The most of one source text; of what holds more than a source, a notebook with its outputs or a table."""
MOST_KEYS, MOST_ITEMS = 2000, 20_000
"""In one object or list of a record: a checker tells every one that is wrong, and millions of them fill a memory."""
MOST_VALUES = 500_000
"""In a whole document; the largest published record has 50,000."""

DOTTED = re.compile(r"""(?:[\w"'-]{1,80}[ \t]*\.[ \t]*){60}""")
"""A TOML key of so many parts, which takes a reader a time that grows with their square."""


def size_of(path: Path, *, limit_bytes: int, empty: bool = False) -> int:
    """Return the size of a plain file in bytes. Raises BadInput: it is missing, no plain file, larger than the limit,
    or empty unless it may be."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        if str(path).startswith(("http:/", "https:/")):
            raise BadInput(f"{path}: an address, and nothing is fetched; save its file and name that") from error
        raise BadInput(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{path}: no plain file; name the file to read")
    if status.st_size > limit_bytes:
        raise BadInput(f"{path}: {status.st_size:,} bytes; at most {limit_bytes:,} are read; cut it into smaller files")
    if not status.st_size and not empty:
        raise BadInput(f"{path}: the file is empty")
    return status.st_size


def data(path: Path, *, limit_bytes: int, empty: bool = False) -> bytes:
    """Return the bytes of a plain file. Raises BadInput: as `size_of`, or it cannot be read."""
    size_of(path, limit_bytes=limit_bytes, empty=empty)
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def text(path: Path, *, limit_bytes: int = SOURCE_BYTES, empty: bool = False) -> str:
    """Return the text of a plain file, a source where no other limit is given. Raises BadInput as `data`; not UTF-8."""
    return _decoded(data(path, limit_bytes=limit_bytes, empty=empty), str(path))


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def inside(folder: Path, file: str) -> Path:
    """Return the path of a file in an untrusted folder. Raises BadInput: a link leads out of the folder, so that a file
    of this machine would be read for one of theirs."""
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadInput(f"{folder.name}/{file}: leads out of the folder; put the file itself there")
    return path


def json_document(data: bytes, name: str) -> Any:
    """Return a JSON document that every reader takes in the same way; `name` is what an error calls it. Raises
    BadInput: not UTF-8, a byte-order mark, no JSON, NaN, nested too deeply, a key twice in one object, very many values
    in one object or list or in all, or an integer of thousands of digits."""
    if (marks := sum(map(data.count, (b",", b"[", b"{")))) > MOST_VALUES:
        raise BadInput(f"{name}: {marks:,} values; at most {MOST_VALUES:,} are read")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _bounded(pairs, name)
        return dict(pairs)

    def no_number(constant: str) -> None:
        raise BadInput(f"{name}: {constant} is no number of JSON")

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}: not JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: JSON that not every reader takes ({type(error).__name__})") from error


def _bounded(pairs: list[tuple[str, Any]], name: str) -> None:
    """Refuse an object of very many keys, a key twice, or a very long list."""
    if len(pairs) > MOST_KEYS:
        raise BadInput(f"{name}: an object of {len(pairs):,} keys; at most {MOST_KEYS:,} are read")
    for key, value in pairs:
        if isinstance(value, list) and len(value) > MOST_ITEMS:
            raise BadInput(f"{name}: {key[:80]} is a list of {len(value):,}; at most {MOST_ITEMS:,} are read")
    if len({key for key, _ in pairs}) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadInput(f"{name}: the key {twice[:80]!r} is there twice; a reader could take either")


def toml(text: str, name: str) -> dict[str, Any]:
    """Return a TOML document; `name` is what an error calls it. Raises BadInput: no TOML, nested too deeply, or an
    integer of thousands of digits."""
    if DOTTED.search(text):
        raise BadInput(f"{name}: nested too deeply: a key of 60 parts and more")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise BadInput(f"{name}: nested too deeply to be read") from error
    except ValueError as error:
        raise BadInput(f"{name}: holds an integer of thousands of digits") from error


TABLE_BYTES = 1 << 31
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


def opened(path: Path, *, limit_bytes: int = TABLE_BYTES) -> io.BufferedReader:
    """The file for reading, gzip unpacked on the way; reading past a bound raises BadInput, damage raises Damaged.
    Raises BadInput: as `size_of`, or a compression that is not read here."""
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
    found = data(path, limit_bytes=SOURCE_BYTES)
    checked_text(found, where=str(path))
    return found


def checked_text(data: bytes, *, where: str) -> str:
    """Return the text of a source's bytes. Raises BadInput for a large one, no UTF-8, or a NUL; `where` begins it."""
    if len(data) > SOURCE_BYTES:
        raise BadInput(f"{where}: a source of {len(data):,} bytes; at most {SOURCE_BYTES:,} are imported")
    text = _decoded(data, where)
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
