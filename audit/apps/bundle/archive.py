"""Files ↔ one zip whose bytes follow from names and contents alone, and the manifest of those files.

Stored and not deflated, since deflated bytes differ between versions of zlib: the archive of the same files can be made
again and compared, and no byte of it, the zip's own tables included, can change unseen. Format: APPNOTE.TXT 6.3.10 of
PKWARE.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from audit import __version__
from audit.model import Record, SourceFile, VerdictName, untrusted
from audit.model.base import Frozen
from audit.model.errors import AuditError, BadInput

NAME = "manifest.json"
SCHEMA = 1
"""History: 1 (2026-11) first published form."""
MOST_BYTES = 256 << 20
"""More than the largest attachment anybody takes; an archive past it is not opened."""
MOST_FILES = 2000
TIME = (1980, 1, 1, 0, 0, 0)
"""The first a zip can hold."""
PLAIN_FILE = 0o100644 << 16
_PART = r"[A-Za-z0-9_(-][A-Za-z0-9_.,() +=-]*"
_NAME = re.compile(rf"{_PART}(/{_PART})*")


class Unsound(AuditError):
    """A bundle is not what it says; one sentence names the first difference."""


def fits(name: str) -> bool:
    """Return whether a file may have that name: relative, plain letters, no hidden part, nothing outside."""
    return _NAME.fullmatch(name) is not None


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of those files, names relative with "/"; equal files give equal bytes.

    Raises:
        ValueError: a name that `unpack` would refuse.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            if not fits(name):
                raise ValueError(f"{name!r} cannot be the name of a file in a bundle")
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = PLAIN_FILE
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive, in memory; nothing is written anywhere.

    Raises:
        Unsound: not an archive as `pack` makes it; says what is wrong.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check(entries)
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError, OSError) as error:
        raise Unsound(f"not a whole zip archive: {error}") from error
    if pack(files) != data:
        raise Unsound("bytes outside the files, in the zip's own tables, are not those this kit writes")
    return files


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Names, kinds and sizes, before anything is read."""
    if len(entries) > MOST_FILES:
        raise Unsound(f"{len(entries)} files; a bundle has at most {MOST_FILES}")
    seen = set()
    for entry in entries:
        if not fits(entry.filename):
            raise Unsound(f"the file name {entry.filename[:80]!r} could leave the folder it is unpacked in")
        if entry.filename in seen:
            raise Unsound(f"{entry.filename} is there twice")
        seen.add(entry.filename)
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise Unsound(f"{entry.filename} is compressed; files of a bundle are stored as they are")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise Unsound(f"{total:,} bytes in its files; a bundle has at most {MOST_BYTES:,}")


class Manifest(Frozen):
    """The files, claim and verdict a bundle states; `kit` is the version that made it."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    kit: str
    claim: str
    verdict: VerdictName
    files: tuple[SourceFile, ...]


def manifest_of(record: Record, files: Mapping[str, bytes]) -> bytes:
    """The manifest of those files as JSON."""
    entries = tuple(
        SourceFile(file=name, sha256=sha256(files[name]), size_bytes=len(files[name])) for name in sorted(files)
    )
    manifest = Manifest(kit=__version__, claim=record.claim.statement.name, verdict=record.verdict.name, files=entries)
    return encoded(manifest.model_dump(mode="json", by_alias=True))


def checked(files: Mapping[str, bytes]) -> Manifest:
    """The manifest among those files, after every other file was found to be the one it lists.

    Raises:
        Unsound: there is none, it lists other files, or a file has another SHA-256.
    """
    manifest = _read(files)
    listed = {entry.file: entry for entry in manifest.files}
    there = set(files) - {NAME}
    if added := sorted(there - set(listed)):
        raise Unsound(f"{added[0]} is in the bundle and not in its manifest")
    if removed := sorted(set(listed) - there):
        raise Unsound(f"{removed[0]} is in the manifest and not in the bundle")
    for name, entry in listed.items():
        if (len(files[name]), sha256(files[name])) != (entry.size_bytes, entry.sha256):
            raise Unsound(f"{name} has SHA-256 {sha256(files[name])}, the manifest says {entry.sha256}")
    return manifest


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def encoded(value: object) -> bytes:
    """JSON as every file of a bundle has it."""
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()


def _read(files: Mapping[str, bytes]) -> Manifest:
    if NAME not in files:
        raise Unsound(f"it has no {NAME}, so it is no bundle of this kit")
    try:
        untrusted.said_once(files[NAME], NAME)
        return Manifest.model_validate_json(files[NAME])
    except BadInput as error:
        raise Unsound(str(error)) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Unsound(f"{NAME} is none of schema {SCHEMA}: {place}: {first['msg']}") from error
