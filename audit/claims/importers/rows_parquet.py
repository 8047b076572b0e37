"""Rows of a Parquet file. Its footer states the unpacked size, which is counted again while rows are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.claims.importers import bounded
from audit.claims.importers.rows import Rows, wanted
from audit.model.errors import BadInput
from audit.model.untrusted import size_of

MAGIC = b"PAR1"
ROWS_AT_ONCE = 2048
MOST_ROWS = 20_000_000


def read(path: Path, asked: set[str] | None) -> Rows:
    """Return every row; equal texts of a column are kept once, as in the file."""
    with _opened(path) as file:
        known = file.schema_arrow.names
        if len(set(known)) < len(known):
            raise BadInput(f"{path}: two columns of one name; rename one of: {', '.join(known)}")
        columns = wanted(known, asked, path)
        _bounded(file, columns, path)
        cells: dict[str, list[Any]] = {name: [] for name in columns}
        grown = count = 0
        for batch in _batches(file, columns, path):
            grown, count = grown + batch.nbytes, count + batch.num_rows
            if grown > bounded.LIMIT_BYTES:
                raise BadInput(f"{path}: grows past {bounded.LIMIT_BYTES:,} bytes when read; it is not read further")
            for name in columns:
                cells[name] += _plain(batch.column(name))
        return Rows(cells, list(range(1, count + 1)), [])


def names(path: Path) -> tuple[str, ...]:
    """Return the columns of its schema."""
    with _opened(path) as file:
        return tuple(file.schema_arrow.names)


def _opened(path: Path) -> Any:
    size_of(path, limit_bytes=bounded.LIMIT_BYTES)
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
    if grown > bounded.LIMIT_BYTES:
        raise BadInput(f"{path}: {grown:,} bytes when unpacked; at most {bounded.LIMIT_BYTES:,} are read")


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
