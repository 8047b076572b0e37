"""Bundles with one change: the manifest agrees with what was changed, and nothing else does."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from audit.apps import bundle
from audit.apps.bundle import archive

Files = dict[str, bytes]


def packed(files: Iterable[tuple[str, bytes]], *, mode: int = archive.PLAIN_FILE) -> bytes:
    """An archive in the form of the kit, whatever the names are and how often they come."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may come twice
        for name, data in files:
            entry = zipfile.ZipInfo(name, archive.TIME)
            entry.create_system, entry.external_attr = 3, mode
            made.writestr(entry, data)
    return buffer.getvalue()


def rehashed(files: Files, **changed: bytes) -> bytes:
    """An archive whose manifest lists what was changed."""
    rest = {**{name: data for name, data in files.items() if name != archive.MANIFEST}, **changed}
    listed = json.loads(files[archive.MANIFEST])
    listed["files"] = [
        {"file": name, "sha256": archive.sha256(data), "size_bytes": len(data)} for name, data in sorted(rest.items())
    ]
    return packed(sorted({**rest, archive.MANIFEST: rest.get(archive.MANIFEST, archive.encoded(listed))}.items()))


def edited(change: Callable[[Any], object]) -> Callable[[Files], bytes]:
    """A forger changes the record and hashes it again."""

    def forge(files: Files) -> bytes:
        data = json.loads(files["record.json"])
        change(data)
        return rehashed(files, **{"record.json": json.dumps(data).encode()})

    return forge


def as_json(data: Any) -> bytes:
    return archive.encoded(data)


def told(path: Path, data: bytes) -> str:
    """The one sentence about an unsound bundle."""
    path.write_bytes(data)
    with pytest.raises(bundle.Unsound) as error:
        bundle.verify(path)
    assert "\n" not in str(error.value)
    return str(error.value)
