"""What a funnel works on: items, each a claim folder or to become one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from audit.apps.funnel.state import Passage
from audit.claims import STATEMENT
from audit.model import untrusted
from audit.model.errors import BadInput

UNREADABLE = "cannot be read"
MOST_FILES, MOST_BYTES = 200, 64_000_000
_ODD = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Item:
    """One claim on its way.

    Args:
        key: names its files.
        folder: its claim folder.
        sha256: of everything in that folder, or of the row it is made from.
        made: makes the folder where it is not there yet; raises BadInput if that cannot be done.
        told: what the lint over a whole dataset says about it, if that ends its way.
    """

    key: str
    folder: Path
    sha256: str
    made: Callable[[Path], None] | None = None
    told: Passage | None = None


@dataclass(frozen=True)
class Collection:
    """The items in their order, and what is told about how they were found."""

    name: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def of_folder(path: Path) -> Collection:
    """The claim folders in a folder, sorted by name.

    Raises:
        BadInput: no such folder, or none of its folders has a `claim.toml`.
    """
    if not path.is_dir():
        raise BadInput(f"{path}: no folder of claim folders; give one whose folders hold a {STATEMENT} each")
    folders = sorted(one.parent for one in path.glob(f"*/{STATEMENT}"))
    if not folders:
        raise BadInput(f"{path}: no folder in it holds a {STATEMENT}; `audit import` makes such folders")
    return Collection(path.resolve().name, tuple(item_of(folder) for folder in folders))


def item_of(folder: Path) -> Item:
    """The item of one claim folder; one whose files cannot be read, or are too many, is left out and says why."""
    key = key_of(folder.name)
    try:
        return Item(key, folder, _digest(folder))
    except (BadInput, OSError) as error:
        told = Passage(stage="lint", outcome="left out", verdict=UNREADABLE, reasons=(str(error),))
        return Item(key, folder, "", told=told)


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    size = 0
    for number, file in enumerate(sorted(one for one in folder.rglob("*") if one.is_file())):
        path = untrusted.inside(folder, str(file.relative_to(folder)))
        size += path.stat().st_size
        if number == MOST_FILES or size > MOST_BYTES:
            raise BadInput(f"more than {MOST_FILES} files or {MOST_BYTES:,} bytes; no claim folder has so many")
        data = untrusted.data(path, limit_bytes=MOST_BYTES, empty=True)
        digest.update(f"{file.relative_to(folder)}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()


def key_of(name: str) -> str:
    """The name as one of a file; names that differ only in odd characters stay apart."""
    plain = _ODD.sub("_", name)[:80]
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
