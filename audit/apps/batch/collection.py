"""What a batch is made of: names, claim folders, folders of them, and lists of these in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit import claims
from audit.apps.batch import parameters
from audit.apps.batch.parameters import Values
from audit.model import SourceFile
from audit.model.errors import BadInput

LISTS = (".txt", ".yaml", ".yml", ".toml", ".json")
KEYS = ("claim", "name")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Item:
    """One audit to run; `trouble` says why it cannot be, where that is known before it is started.

    `folder` is the claim's, `values` are the notebook's parameters but for those the batch sets.
    """

    name: str
    folder: Path
    values: Values = field(default_factory=dict)
    sources: tuple[SourceFile, ...] = ()
    trouble: str | None = None


def items(places: Sequence[str], *, known: Values, common: Values, root: Path = claims.KERNELS) -> list[Item]:
    """The audits of a collection, in its order.

    Args:
        places: names of claims, claim folders, folders of claim folders, and list files.
        known: the notebook's parameters with their defaults.
        common: parameters for all, which one of a list may set otherwise.
        root: where names are looked up.

    Raises:
        BadInput: something that is none of these, an empty collection, unknown parameters, or two of one name.
    """
    found = [_read(item) for place in places for item in _expanded(place, Path(), known, root)]
    if not found:
        raise BadInput(f"{', '.join(places)}: no claim in it")
    names = [item.name for item in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"{twice}: two claims of the collection would share this folder; give one another `name`")
    return [replace(item, values={**common, **item.values}) for item in found]


def _expanded(place: str, base: Path, known: Values, root: Path) -> Iterator[Item]:
    path = base / place
    if (path / "claim.toml").is_file():
        yield Item(path.resolve().name, path.resolve())
    elif (root / place / "claim.toml").is_file():
        yield Item(place, root / place)
    elif path.is_dir():
        yield from (Item(each.parent.name, each.parent.resolve()) for each in sorted(path.glob("*/claim.toml")))
    elif path.suffix in LISTS and path.is_file():
        for number, entry in enumerate(_entries(path), 1):
            yield from _listed(entry, path, f"{path}, entry {number}", known, root)
    else:
        listed = ", ".join(claims.names(root)) or "none"
        raise BadInput(f"{place}: no claim of this name, no folder and no list ({', '.join(LISTS)}); known: {listed}")


def _entries(path: Path) -> list[Any]:
    if path.suffix == ".txt":
        lines = (line.partition("#")[0].strip() for line in _text(path).splitlines())
        return [line for line in lines if line]
    told = parameters.table(path)
    entries = told.get("claims") if isinstance(told, dict) and set(told) == {"claims"} else told
    if not isinstance(entries, list):
        raise BadInput(f"{path}: must hold a list of claims, or the one key `claims` with a list")
    return entries


def _listed(entry: Any, path: Path, where: str, known: Values, root: Path) -> Iterator[Item]:
    """A string is a place; a table has `claim`, perhaps `name`, and parameters of the notebook."""
    told = {"claim": entry} if not isinstance(entry, dict) else entry
    place, name = told.get("claim"), told.get("name")
    for key, value in (("claim", place), ("name", name)):
        if not (isinstance(value, str) or (key == "name" and value is None)):
            raise BadInput(f"{where}: {key} is {value!r}, and must be text: quote it")
    if name is not None and not NAME.fullmatch(name):
        raise BadInput(f"{where}: name {name!r} cannot name a folder; use letters, digits, dots, dashes")
    rest = {key: value for key, value in told.items() if key not in KEYS}
    allowed = {key: value for key, value in known.items() if key not in ("claim", "out", "interactive")}
    values = parameters.checked(rest, allowed, where)
    for item in _expanded(str(place), path.parent, known, root):
        yield replace(item, name=name or item.name, values={**item.values, **values})


def _read(item: Item) -> Item:
    """With the hashes of the claim's files; a broken claim is told in its place and stops no other."""
    try:
        return replace(item, sources=claims.load(str(item.folder)).audited.sources)
    except BadInput as error:
        return replace(item, trouble=str(error))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
