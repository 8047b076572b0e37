"""`manifest.json`: every other file of a bundle with its size and SHA-256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from audit import __version__
from audit.apps.bundle.archive import Unsound
from audit.model import Record, SourceFile, VerdictName, untrusted
from audit.model.base import Frozen
from audit.model.errors import BadInput

NAME = "manifest.json"
SCHEMA = 1
"""History: 1 (2026-11) first published form."""


class Manifest(Frozen):
    """What a bundle says it is; `kit` is the version that made it."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    kit: str
    claim: str
    verdict: VerdictName
    files: tuple[SourceFile, ...]


def of(record: Record, files: Mapping[str, bytes]) -> bytes:
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
