"""Untrusted files before anything reads them: plain files of a bounded size, JSON without duplicate keys."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

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
    """Return the text of a plain file in UTF-8, a source where no other limit is given. Raises BadInput: as `data`, or
    not UTF-8."""
    try:
        return data(path, limit_bytes=limit_bytes, empty=empty).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


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
