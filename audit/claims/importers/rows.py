"""Rows on their way from a file into a table: of CSV, whose first line names the columns, and of Parquet.

The footer of a Parquet file states the unpacked size, which is counted again while rows are read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.model import untrusted
from audit.model.errors import BadInput
from audit.model.untrusted import Damaged, opened, size_of

_LONGEST_NAME = 40
MAGIC = b"PAR1"
ROWS_AT_ONCE = 2048
MOST_ROWS = 20_000_000


@dataclass(frozen=True)
class Rejected:
    """A row that is left out: its number in the file, the column (empty: the whole row), and why."""

    row: int
    column: str
    reason: str

    def __str__(self) -> str:
        """For people: `row 3, column CUDA_Runtime: …`."""
        column = f", column {self.column}" if self.column else ""
        return f"row {self.row}{column}: {self.reason}"


@dataclass(frozen=True)
class Rows:
    """The rows that could be read, by column, the number of each in the file, and those that could not."""

    columns: dict[str, list[Any]]
    numbers: list[int]
    rejected: list[Rejected]


def listed(columns: Iterable[str]) -> str:
    """Return names of columns on one line, however odd they are."""
    return ", ".join(" ".join(name.split())[:_LONGEST_NAME] for name in columns) or "none"


def wanted(known: Iterable[str], asked: Collection[str] | None, path: Path) -> list[str]:
    """Return the columns to take, in the order of the file. Raises BadInput naming a column that is not there."""
    there = list(dict.fromkeys(known))
    if any(not name.isascii() and name != name.encode(errors="replace").decode() for name in there):
        raise BadInput(f"{path}: the name of a column is not UTF-8; save the file as UTF-8")
    missing = sorted(set(asked or ()) - set(there))
    if missing:
        raise BadInput(f"{path}: no column {missing[0]}; the file has: {listed(there)}")
    return there if asked is None else [name for name in there if name in asked]


def read_csv(path: Path, asked: set[str] | None) -> Rows:
    """Return every row as text; a row with too many or too few cells, or an open quote, is rejected."""
    with _reader(path) as reader:
        header = _header(reader, path)
        columns = wanted(header, asked, path)
        places = [header.index(name) for name in columns]
        cells: list[list[Any]] = [[] for _ in columns]
        numbers: list[int] = []
        rejected: list[Rejected] = []
        for number, row in _numbered(reader):
            if isinstance(row, list) and len(row) == len(header):
                numbers.append(number)
                for column, place in zip(cells, places, strict=True):
                    column.append(row[place] or None)
            elif row != []:
                why = row if isinstance(row, str) else f"{len(row)} cells where the header names {len(header)}"
                rejected.append(Rejected(number, "", why))
    return Rows(dict(zip(columns, cells, strict=True)), numbers, rejected)


def names_of_csv(path: Path) -> tuple[str, ...]:
    """Return the header."""
    with _reader(path) as reader:
        return tuple(_header(reader, path))


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    """A reader that takes cells of any size the limit allows; the csv module keeps its bound for the whole process."""
    before = csv.field_size_limit(untrusted.TABLE_BYTES)
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            yield csv.reader(text, strict=True)
    finally:
        csv.field_size_limit(before)


def _header(reader: Any, path: Path) -> list[str]:
    try:
        header: list[str] = next(reader, [])
    except (csv.Error, Damaged) as error:
        raise BadInput(f"{path}: row 0, the header, cannot be read ({error})") from error
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise BadInput(f"{path}: the header names column {twice[0] or '(empty)'} twice; rename one")
    return header


def _numbered(reader: Any) -> Iterator[tuple[int, list[str] | str]]:
    """Yield every row with its number, or what is wrong with it."""
    number = 0
    while True:
        number += 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, f"cannot be read ({error})"
        except Damaged as error:
            yield number, str(error)
            return


def read_parquet(path: Path, asked: set[str] | None) -> Rows:
    """Return every row; equal texts of a column are kept once, as in the file."""
    with _parquet(path) as file:
        known = file.schema_arrow.names
        if len(set(known)) < len(known):
            raise BadInput(f"{path}: two columns of one name; rename one of: {', '.join(known)}")
        columns = wanted(known, asked, path)
        _bounded(file, columns, path)
        cells: dict[str, list[Any]] = {name: [] for name in columns}
        grown = count = 0
        for batch in _batches(file, columns, path):
            grown, count = grown + batch.nbytes, count + batch.num_rows
            if grown > untrusted.TABLE_BYTES:
                raise BadInput(f"{path}: grows past {untrusted.TABLE_BYTES:,} bytes when read; it is not read further")
            for name in columns:
                cells[name] += _plain(batch.column(name))
        return Rows(cells, list(range(1, count + 1)), [])


def names_of_parquet(path: Path) -> tuple[str, ...]:
    """Return the columns of its schema."""
    with _parquet(path) as file:
        return tuple(file.schema_arrow.names)


def _parquet(path: Path) -> Any:
    size_of(path, limit_bytes=untrusted.TABLE_BYTES)
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise BadInput(f"{path}: Parquet is read by pyarrow; pip install 'kernel-claim-audit[datasets]'") from error
    try:
        schema = parquet.read_schema(path)
        texts = [one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)]
        return parquet.ParquetFile(path, read_dictionary=texts)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{path}: damaged Parquet ({_first_line(error)})") from error


def _bounded(file: Any, columns: list[str], path: Path) -> None:
    """Refuse by the footer, before anything is unpacked."""
    meta = file.metadata
    if meta.num_rows > MOST_ROWS:
        raise BadInput(f"{path}: {meta.num_rows:,} rows; at most {MOST_ROWS:,} are read")
    parts = [meta.row_group(group).column(at) for group in range(meta.num_row_groups) for at in range(meta.num_columns)]
    grown = sum(part.total_uncompressed_size for part in parts if part.path_in_schema.partition(".")[0] in columns)
    if grown > untrusted.TABLE_BYTES:
        raise BadInput(f"{path}: {grown:,} bytes when unpacked; at most {untrusted.TABLE_BYTES:,} are read")


def _batches(file: Any, columns: list[str], path: Path) -> Any:
    import pyarrow as pa

    try:
        yield from file.iter_batches(batch_size=ROWS_AT_ONCE, columns=columns)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{path}: damaged Parquet ({_first_line(error)})") from error


def _plain(column: Any) -> list[Any]:
    """Return a column as Python values; a text that stands in many rows is one object."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return list(column.to_pylist())
    texts = column.dictionary.to_pylist()
    return [None if at is None else texts[at] for at in column.indices.to_pylist()]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
