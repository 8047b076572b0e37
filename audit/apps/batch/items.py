"""Collections: names of claims, claim folders, folders of them, datasets, and lists of all these in a file.

Each claim, and each row of a dataset, is an item of a run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from audit import claims
from audit.apps.batch import parameters
from audit.apps.batch.parameters import Values
from audit.apps.batch.state import Attempt
from audit.claims import STATEMENT
from audit.model import SourceFile, untrusted
from audit.model.errors import BadInput

LISTS = (".txt", ".yaml", ".yml", ".toml")
KEYS = ("claim", "name")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
MOST_NAMED = 3
_ODD = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Item:
    """One claim of a collection.

    Args:
        name: names its files.
        folder: its claim folder.
        sha256: of everything its results depend on.
        values: the notebook's parameters for it, but for those the batch sets.
        sources: the audited files; none of a row of a dataset.
        make: makes the folder where it is not there yet; raises BadInput if that cannot be done.
        known: the answer of a stage that is known before anything is started.
    """

    name: str
    folder: Path
    sha256: str = ""
    values: Values = field(default_factory=dict)
    sources: tuple[SourceFile, ...] = ()
    make: Callable[[Path], None] | None = None
    known: Attempt | None = None

    def made(self) -> Path:
        """Return its claim folder, which is there then. Raises BadInput: it cannot be made."""
        if self.make is not None and not self.folder.exists():
            self.make(self.folder)
        return self.folder


@dataclass(frozen=True)
class Collection:
    """The items in their order, each with a name of its own, and notes on how they were found."""

    name: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reader:
    """Reads a collection.

    Args:
        notebook: its parameters cell says what a list may set, also in place of the parameters in `common`.
        common: parameters of all.
        made: the folder for claim folders made of rows of datasets.
        gpu, unit: those of rows that name none.
    """

    notebook: Path
    common: Values
    made: Path
    gpu: str | None = None
    unit: str | None = None
    _notes: list[str] = field(default_factory=list)

    def read(self, places: Sequence[str]) -> Collection:
        """The claims in the order of their places; an entry that names none is an item of bad input.

        `places` are names of claims, claim folders, folders of these, datasets, and list files.

        Raises:
            BadInput: no entry names a claim; every reason is in it.
        """
        known = parameters.defaults(self.notebook)
        found = [item for place in places for item in self._expanded(place, (), known)]
        bad = [one.known.reason for one in found if one.known and one.known.outcome == "bad input"]
        if len(bad) == len(found):  # a folder for results that holds none would be in the way of the next try
            raise BadInput("; ".join(bad))
        names = [Path(place).resolve().name for place in places]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        digest = hashlib.sha256(self.notebook.read_bytes()).hexdigest()
        items = (_read(replace(one, values={**self.common, **one.values}), digest) for one in _apart(found))
        return Collection(", ".join(names[:MOST_NAMED]) + more, tuple(items), tuple(self._notes))

    def _expanded(self, place: str, lists: tuple[Path, ...], known: Values, name: str = "") -> Iterator[Item]:
        """The items of a place that stands in the last of the lists, each of which names the next."""
        try:
            yield from self._found(place, lists, known)
        except (BadInput, OSError) as error:
            yield refused(Item(name or file_name(Path(place).name or "entry"), Path()), str(error))

    def _found(self, place: str, lists: tuple[Path, ...], known: Values) -> Iterator[Item]:
        path = (lists[-1].parent if lists else Path()) / place
        if (path / STATEMENT).is_file():
            yield Item(path.resolve().name, path.resolve())
        elif (claims.KERNELS / place / STATEMENT).is_file():
            yield Item(place, claims.KERNELS / place)
        elif path.is_dir() and (names := claims.names(path)):
            yield from (Item(name, (path / name).resolve()) for name in names)
        elif path.is_dir() or (path.is_file() and path.suffix not in LISTS):
            yield from self._rows(place, path)
        elif path.is_file():
            if path.resolve() in lists:
                raise BadInput(f"{place}: the list names itself")
            if not (entries := _entries(path)):
                raise BadInput(f"{place}: no claim in it")
            for number, entry in enumerate(entries, 1):
                yield from self._listed(entry, (*lists, path.resolve()), f"{path}, entry {number}", known)
        else:
            listed = ", ".join(claims.names()) or "none"
            kinds = ", ".join(LISTS)
            raise BadInput(f"{place}: no claim of this name, no folder, dataset or list ({kinds}); known: {listed}")

    def _rows(self, place: str, path: Path) -> Iterator[Item]:
        from audit.apps.batch import rows  # pandas takes half a second that claims need not wait

        try:
            items, notes = rows.of_dataset(path, self.made, gpu=self.gpu, unit=self.unit)
        except BadInput as error:
            raise BadInput(f"{place}: no claim in it; {error}") from error
        self._notes.extend(notes)
        yield from items

    def _listed(self, entry: Any, lists: tuple[Path, ...], where: str, known: Values) -> Iterator[Item]:
        """A string is a place; a table has `claim`, perhaps `name`, and parameters of the notebook."""
        table = entry if isinstance(entry, dict) else {"claim": entry}
        place, name = table.get("claim"), table.get("name")
        wrong = [
            f"{key} is {value!r}, and must be text: quote it"
            for key, value in (("claim", place), ("name", name))
            if not (isinstance(value, str) or (key == "name" and value is None))
        ]
        if isinstance(name, str) and not NAME.fullmatch(name):
            wrong.append(f"name {name!r} cannot name a folder; use letters, digits, dots, dashes")
        rest = {key: value for key, value in table.items() if key not in KEYS}
        allowed = {key: value for key, value in known.items() if key not in ("claim", "out", "interactive")}
        wrong += parameters.problems(rest, allowed)
        title = name if isinstance(name, str) and NAME.fullmatch(name) else ""
        if wrong:
            row = Item(title or file_name(Path(str(place or "entry")).name), Path())
            yield refused(row, f"{where}: {'; '.join(wrong)}")
            return
        for item in self._expanded(str(place), lists, known, title):
            yield replace(item, name=title or item.name, values={**item.values, **rest})


def fitting(collection: Collection, device: str) -> Collection:
    """The collection where an entry that asks for a GPU is bad input on the emulated device."""
    why = "asks for the device cuda, and this batch runs on the emulated device"
    every = (
        refused(one, why) if one.known is None and (device, one.values.get("device")) == ("emulated", "cuda") else one
        for one in collection.items
    )
    return replace(collection, items=tuple(every))


def file_name(name: str) -> str:
    """The name as one of a file; names that differ only in odd characters stay apart."""
    plain = _ODD.sub("_", name)[:80]
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def refused(item: Item, reason: str) -> Item:
    """The item as bad input: it is in the summary with that reason, and nothing of it is started."""
    return replace(item, known=Attempt(stage="notebook", outcome="bad input", reasons=(reason,)))


def _apart(found: Sequence[Item]) -> Iterator[Item]:
    """Every item by a name of its own; the second claim of one name is bad input."""
    taken, seen = {one.name for one in found}, set[str]()
    sound = {one.name for one in found if not one.known}
    for item in found:
        if item.name not in seen and not (item.known and item.name in sound):
            seen.add(item.name)
            yield item
            continue
        name = next(new for number in count(2) if (new := f"{item.name}-{number}") not in taken)
        taken.add(name)
        why = f"{item.name}: two claims of the collection would share this name; rename one"
        yield replace(item if item.known else refused(item, why), name=name)


def _entries(path: Path) -> list[Any]:
    if path.suffix == ".txt":
        lines = (line.partition("#")[0].strip() for line in untrusted.text(path, empty=True).splitlines())
        return [line for line in lines if line]
    table = parameters.table(path)
    entries = table.get("claims") if isinstance(table, dict) and set(table) == {"claims"} else table
    if not isinstance(entries, list):
        raise BadInput(f"{path}: must hold a list of claims, or the one key `claims` with a list")
    return entries


def _read(item: Item, notebook_sha256: str) -> Item:
    """With the hashes of the claim's files; a broken claim is bad input in its place and stops no other."""
    if item.known:
        return item
    try:
        sources = () if item.make else claims.load(str(item.folder)).audited.sources
        headers = [] if item.make else _digests(item.folder)
    except (BadInput, OSError) as error:
        sources, headers, item = (), [], refused(item, str(error))
    files = [one.model_dump(mode="json") for one in (*sources, *headers)]
    depends_on = (files, item.sha256, item.values, notebook_sha256)
    digest = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()
    return replace(item, sources=sources, sha256=digest)


def _digests(folder: Path) -> list[SourceFile]:
    """The hashes of every source file in a claim folder, headers too. Raises BadInput: one that no audit would read."""
    names = sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.suffix in claims.SOURCES)
    return [SourceFile.of(one, untrusted.text(untrusted.inside(folder, one), empty=True).encode()) for one in names]
