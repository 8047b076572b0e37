"""The files that the user named, or those of one folder. Read with bounds; nothing is imported or run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from audit.claims.importers import tables
from audit.claims.importers.facts import Original
from audit.claims.python_text import PythonText
from audit.model import untrusted
from audit.model.errors import BadInput

DEEPEST, MOST_FILES = 5, 2000
MOST_NAMED = 10
_PACKED = (".zip", ".tar", ".tgz", ".tar.gz", ".7z", ".tar.xz")
Found = TypeVar("Found")
_TABLES = (".parquet", ".csv", ".jsonl", ".json", ".ndjson", ".gz")


class Material:
    """The files of a source by their name, relative to the folder where one was named. Raises BadInput: a path is
    missing, an archive of files, a folder has too many, or a link in it leads out of it."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self.problems: list[str] = []
        """Why files could not be read, as far as they were asked for."""
        named = [(path.name, path) for path in paths if not path.is_dir()]
        named += [found for path in paths if path.is_dir() for found in _within(path)]
        self.files = dict(named)
        self.where = ", ".join(str(path) for path in paths)
        packed = [path for path in paths if path.name.endswith(_PACKED) and not path.is_dir()]
        if packed:
            raise BadInput(f"{packed[0]}: an archive of files; unpack it and name the folder")
        for _, path in named:
            untrusted.size_of(path, limit_bytes=untrusted.TABLE_BYTES)

    def named(self, *endings: str) -> list[str]:
        """Return the files whose names end so, in order."""
        return [name for name in self.files if name.endswith(endings)]

    def data(self, name: str) -> bytes:
        """Return the bytes of one source text. Raises BadInput if it is too large or no text."""
        return untrusted.source_text(self.files[name])

    def original(self, name: str, *, file: str | None = None) -> Original:
        """That file as an original, under another name if one is given."""
        return Original(file or Path(name).name, self.data(name), published_as=name)

    @cached_property
    def python(self) -> dict[str, PythonText]:
        """The Python files that are valid Python, by name; `problems` says why others are not."""
        return self._read(self.named(".py"), lambda name: PythonText(self.data(name), where=str(self.files[name])))

    @cached_property
    def documents(self) -> dict[str, Any]:
        """The JSON documents, by name; of a file of lines every line, as `name:line`."""
        found = self._read(self.named(".json", ".jsonl", ".ipynb"), self._document)
        return {at: document for each in found.values() for at, document in each.items()}

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of every file that can be read as a table."""
        return self._read(self.named(*_TABLES), lambda name: tables.names(self.files[name]))

    def table_with(self, column: str) -> Path:
        """Return the one table with that column. Raises BadInput for none or several."""
        names = [name for name, columns in self.columns.items() if column in columns]
        if len(names) != 1:
            text = f"{len(names)} tables ({', '.join(names)})" if names else "no table"
            trouble = f" ({self.problems[0]})" if self.problems else ""
            raise BadInput(f"{self.where}: {text} with a column {column}{trouble}; name the file that is meant")
        return self.files[names[0]]

    def document(self, name: str) -> Any:
        """Return a JSON document. Raises BadInput with line and column where it is none."""
        return self._document(name)[name]

    def only(self, found: Sequence[Original], *, what: str) -> Original:
        """Return the only original found. Raises BadInput for none or several, naming them or the first problem."""
        if len(found) == 1:
            return found[0]
        text = ", ".join(one.published_as for one in found[:MOST_NAMED])
        count = f"{len(found)} of ({text})" if found else "no"
        trouble = f" ({self.problems[0]})" if self.problems and not found else ""
        raise BadInput(f"{self.where}: {count} {what}{trouble}; name the one that is meant")

    def written_in(self, python: Callable[[PythonText], object]) -> list[Original]:
        """Return the Python files of which that is true."""
        return [self.original(name) for name, text in self.python.items() if python(text)]

    def _read(self, names: Iterable[str], read: Callable[[str], Found]) -> dict[str, Found]:
        """Return what can be read, by name; why the others cannot is put among the problems."""
        found = {}
        for name in names:
            try:
                found[name] = read(name)
            except BadInput as error:
                self.problems.append(str(error))
        return found

    def _document(self, name: str) -> dict[str, Any]:
        path = self.files[name]
        data = untrusted.data(path, limit_bytes=untrusted.DOCUMENT_BYTES)
        try:
            text = data.decode("utf-8-sig")
            if name.endswith(".jsonl"):
                lines = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
                return {f"{name}:{at}": json.loads(line) for at, line in lines}
            return {name: json.loads(text)}
        except json.JSONDecodeError as error:
            raise BadInput(f"{path}: line {error.lineno}, column {error.colno}: broken JSON ({error.msg})") from error
        except RecursionError as error:
            raise BadInput(f"{path}: JSON nested too deeply") from error
        except ValueError as error:
            raise BadInput(f"{path}: cannot be read as JSON ({type(error).__name__})") from error


def _within(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the plain files of a folder, not too deep and not too many; none that lies outside of it."""
    root = folder.resolve()
    found = 0
    for inside, folders, files in os.walk(folder):
        depth = len(Path(inside).relative_to(folder).parts)
        folders[:] = sorted(each for each in folders if depth + 1 < DEEPEST and not each.startswith("."))
        for path in (Path(inside, file) for file in sorted(files) if not file.startswith(".")):
            name = path.relative_to(folder)
            found += 1
            if found > MOST_FILES:
                raise BadInput(f"{folder}: more than {MOST_FILES:,} files; name the files to import")
            if not path.resolve().is_relative_to(root):
                raise BadInput(f"{folder}: {name} leads out of the folder; copy the file itself there")
            if path.is_file() and path.stat().st_size:  # packages have empty files
                yield str(name), path
