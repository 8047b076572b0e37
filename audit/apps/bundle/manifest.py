"""The manifest of a bundle: every other file with its SHA-256, the claim, the verdict, and the version that made it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from audit import __version__
from audit.apps.bundle.archive import MOST_FILES, Unsound
from audit.model import Record, SourceFile, VerdictName, untrusted
from audit.model.base import Frozen
from audit.model.errors import BadInput

NAME = "manifest.json"
SCHEMA = 2
"""History: 1 (2026-11) first published form; 2 (2026-11) `drawn_with`, and reports that follow from the record."""
MOST_BYTES = 400 * MOST_FILES


class Manifest(Frozen):
    """The files, claim and verdict that a bundle states.

    `kit` is the version that made it, and `drawn_with` the library that drew its figures.
    """

    schema_: Literal[2] = Field(default=2, alias="schema")
    kit: str = __version__
    drawn_with: str
    claim: str
    verdict: VerdictName
    files: tuple[SourceFile, ...]


def stated(record: Record, files: Mapping[str, bytes], *, drawn_with: str, kit: str = __version__) -> bytes:
    """Return the manifest of those files as JSON."""
    entries = tuple(SourceFile.of(name, files[name]) for name in sorted(files))
    claim, verdict = record.claim.statement.name, record.verdict.name
    manifest = Manifest(kit=kit, drawn_with=drawn_with, claim=claim, verdict=verdict, files=entries)
    return encoded(manifest.model_dump(mode="json", by_alias=True))


def checked(files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest among those files; every other file is the one that it lists.

    Raises:
        Unsound: there is none, it lists other files, or a file has another SHA-256.
    """
    if NAME not in files:
        raise Unsound(f"it has no {NAME}, so it is no bundle of this kit")
    if len(files[NAME]) > MOST_BYTES:
        raise Unsound(f"{NAME} has {len(files[NAME]):,} bytes; at most {MOST_BYTES:,} are read")
    try:
        untrusted.json_document(files[NAME], NAME)
        manifest = Manifest.model_validate_json(files[NAME])
    except BadInput as error:
        raise Unsound(str(error)) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Unsound(f"{NAME} is none of schema {SCHEMA}: {place}: {first['msg']}") from error
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
    """Return 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def encoded(value: object) -> bytes:
    """Return JSON in the form that every file made for a bundle has."""
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()
