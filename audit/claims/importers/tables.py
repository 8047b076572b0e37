"""Untrusted tables: Parquet, CSV, JSON and JSONL, plain or under gzip, with bounds; bad rows are left out and listed.

The format is seen from the content. Rows are counted from 1, a header is no row; in JSONL a row is a line. A column
holds what the file has, `None` where nothing is; columns asked for as numbers are float64, NaN where nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.claims.importers import rows, rows_json
from audit.claims.importers.bounded import Damaged, opened
from audit.claims.importers.rows import Rejected, Rows, wanted
from audit.model.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 40
_START_BYTES = 1 << 16


@dataclass(frozen=True)
class Table:
    """The table of a file."""

    path: Path
    frame: pd.DataFrame  # the good rows; the index holds their numbers in the file
    rejected: tuple[Rejected, ...]  # the bad ones, in order

    def rejections(self) -> list[str]:
        """Return one sentence a rejected row, and one with their number; nothing where every row is good."""
        lines = [f"{self.path}: {one}" for one in self.rejected]
        rows = len({one.row for one in self.rejected})
        return [*lines, f"{self.path}: {rows} rejected, {len(self.frame)} good rows go on"] if rows else []


def read(
    path: Path, columns: Collection[str] | None = None, *, numbers: Collection[str] = (), positive: Collection[str] = ()
) -> Table:
    """Read a table; only the columns asked for are taken.

    Args:
        columns: the columns wanted; None takes all. One that only some rows of a JSON file have is `None` elsewhere.
        numbers: columns that hold numbers where they hold anything.
        positive: the same for times and ratios: NaN, an infinity, zero and less are refused too.

    Raises:
        BadInput: no such file, no table, a column that is not there, more than the limit, or a bomb.
    """
    found = _FORMATS[sniff(path)][0](path, None if columns is None else {*columns, *numbers, *positive})
    numeric = (*numbers, *positive)
    wanted(found.columns, numeric, path)
    rejected = list(found.rejected)
    for name, cells in found.columns.items():
        rejected += _refused(found, name, map(_not_text, cells))
    for name in numeric:
        values = [_number(cell, name in positive) for cell in found.columns[name]]
        rejected += _refused(found, name, values)
        found.columns[name] = [math.nan if isinstance(one, str) else one for one in values]
    frame = _frame(found, {one.row for one in rejected}, numeric)
    return Table(path, frame, tuple(sorted(rejected, key=lambda one: one.row)))


def names(path: Path) -> tuple[str, ...]:
    """Return the columns of a table; of a JSON file those of its first row. Raises BadInput as `read`."""
    return _FORMATS[sniff(path)][1](path)


def sniff(path: Path) -> str:
    """Return the format of a file from its content: "parquet", "json", "jsonl" or "csv". Raises BadInput as `read`."""
    with opened(path) as file:
        start = _start(file, path)
        if start.startswith(rows.MAGIC):
            return "parquet"
        text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith(b"["):
            return "json"
        if text.startswith(b"{"):
            return rows_json.kind(text, suffix=path.name.removesuffix(".gz"))
    if b"\0" in start:
        raise BadInput(f"{path}: neither Parquet, CSV, JSON nor JSONL")
    return "csv"


def _start(file: BufferedReader, path: Path) -> bytes:
    """Return the first 64 KiB, or as much as there is before damage."""
    start = b""
    try:
        while len(start) < _START_BYTES and (more := file.read1(_START_BYTES - len(start))):
            start += more
    except Damaged as error:
        if not start:
            raise BadInput(f"{path}: {error}") from error
    return start


_FORMATS: dict[str, tuple[Callable[[Path, set[str] | None], Rows], Callable[[Path], tuple[str, ...]]]] = {
    "parquet": (rows.read_parquet, rows.names_of_parquet),
    "csv": (rows.read_csv, rows.names_of_csv),
    "json": (partial(rows_json.read, rows_json.document), partial(rows_json.names, rows_json.document)),
    "jsonl": (partial(rows_json.read, rows_json.lines), partial(rows_json.names, rows_json.lines)),
}
"""What reads the rows of a format, and what its columns."""


def _refused(found: Rows, name: str, reasons: Iterable[float | str | None]) -> list[Rejected]:
    """Return the rows where something is wrong in that column: where a text stands among the reasons."""
    pairs = zip(found.numbers, reasons, strict=True)
    return [Rejected(row, name, reason) for row, reason in pairs if isinstance(reason, str)]


def _frame(found: Rows, gone: Collection[int], numeric: Collection[str]) -> pd.DataFrame:
    """Return the rows whose numbers are not among those that are gone."""
    import pandas as pd

    good = [at for at, number in enumerate(found.numbers) if number not in gone]
    index = pd.Index([found.numbers[at] for at in good], name="row", dtype="int64")
    series = {
        name: pd.Series([cells[at] for at in good], index=index, dtype=float if name in numeric else object)
        for name, cells in found.columns.items()
    }
    return pd.DataFrame(series, index=index)


def _not_text(cell: Any) -> str | None:
    if not isinstance(cell, str) or cell.isascii():
        return None
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"not UTF-8 at character {error.start}"
    return None


def _number(cell: Any, positive: bool) -> float | str:
    """Return the cell as a number, NaN for an absent one, or what is wrong with it."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    shown = repr(cell)[:_SHOWN]
    try:
        if isinstance(cell, bool) or not isinstance(cell, int | float | str) or "_" in str(cell):
            return f"{shown} is no number"
        value = float(cell)
    except (ValueError, OverflowError):
        return f"{shown} is no number; write it without a unit"
    if positive and not 0.0 < value < math.inf:
        return f"{shown} is no time or ratio; it must be finite and above zero"
    return value
