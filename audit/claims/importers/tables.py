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
from audit.claims.importers.facts import Given, Original
from audit.claims.importers.rows import Rejected, Rows, listed, wanted
from audit.model.errors import BadInput
from audit.model.untrusted import Damaged, opened

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
    """Read a table; only the columns asked for are taken, None takes all. One that only some rows of a JSON file have
    is `None` elsewhere.

    The columns of `numbers` and `positive` hold numbers where they hold anything; as times and ratios, `positive` ones
    are finite and above zero. Raises BadInput: no such file, no table, a column that is not there, more than the limit,
    or a bomb.
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


MOST_NAMED = 10


@dataclass(frozen=True)
class Row:
    """A row: its number in the file, its cells (None where nothing is), and what was rejected or said on the way."""

    path: Path
    number: int
    cells: dict[str, Any]
    rejected: tuple[str, ...]

    @property
    def where(self) -> str:
        """For people: `file row 3`."""
        return f"{self.path.name} row {self.number}"

    def text(self, column: str) -> str | None:
        """Return the text of a cell; None where there is none."""
        cell = self.cells.get(column)
        return cell if isinstance(cell, str) and cell.strip() else None

    def number_in(self, column: str) -> float | None:
        """Return the number of a cell; None where there is none."""
        cell = self.cells.get(column)
        return float(cell) if isinstance(cell, float) and not math.isnan(cell) else None

    def original(self, column: str, *, file: str) -> Original:
        """Return the text of a cell as an original."""
        return Original(file, (self.text(column) or "").encode(), published_as=f"{self.where} column {column}")


def chosen(path: Path, given: Given, *, columns: Collection[str], positive: Collection[str] = ()) -> Row:
    """Return the row the user means; columns the file lacks count as empty. Raises BadInput: no such row, several that
    differ, or one that was rejected; says what to choose by."""
    known = names(path)
    selected = [given.select[0]] if given.select else []
    for name in selected:
        if name not in known:
            raise BadInput(f"{path}: --select {name}: no such column; the file has: {listed(known)}")
    asked = [name for name in known if name in columns or name in selected]
    table = read(path, asked, positive=[name for name in known if name in positive])
    number, doubles = _row_of(table, given, path)
    cells = {str(name): value for name, value in table.frame.loc[number].items()}
    rejected = table.rejections()
    shown = rejected if len(rejected) <= MOST_NAMED else [*rejected[: MOST_NAMED - 1], "…", rejected[-1]]
    return Row(path, number, cells, (*doubles, *shown))


def _row_of(table: Table, given: Given, path: Path) -> tuple[int, list[str]]:
    frame = table.frame
    if given.row is not None:
        for rejected in table.rejected:
            if rejected.row == given.row:
                raise BadInput(f"{path}: {rejected}")
        if given.row not in frame.index:
            last = max([*frame.index, *(one.row for one in table.rejected)], default=0)
            raise BadInput(f"{path}: no row {given.row}; rows go from 1 to {last}")
        return given.row, []
    if given.select:
        key, value = given.select
        frame = frame[[_shown(cell) == value for cell in frame[key]]]
    if len(frame) == 1:
        return int(frame.index[0]), []
    if len(frame) > 1 and given.select and len({repr(row) for row in frame.values.tolist()}) == 1:
        others = ", ".join(str(number) for number in list(frame.index[1:])[:MOST_NAMED])
        return int(frame.index[0]), [f"{path}: rows {others} say the same as row {frame.index[0]} and are left out"]
    raise BadInput(_which(list(frame.index), table, given, path))


def _which(numbers: list[int], table: Table, given: Given, path: Path) -> str:
    by = f" with {given.select[0]} = {given.select[1]}" if given.select else ""
    if not numbers:
        rejected = f" ({table.rejections()[0]})" if table.rejected and not given.select else ""
        return f"{path}: no good row{by}{rejected}"
    shown = ", ".join(str(number) for number in numbers[:MOST_NAMED]) + (", …" if len(numbers) > MOST_NAMED else "")
    how = "choose one with --row N, or audit import --select COLUMN=VALUE"
    return f"{path}: {len(numbers)} rows{by} (rows {shown}); {how}"


def _shown(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
