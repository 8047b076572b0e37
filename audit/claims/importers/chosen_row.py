"""One row of a table that holds many claims: by its number, by the value of a column, or because it is the only one."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.claims.importers import tables
from audit.claims.importers.imported import Given, Original
from audit.claims.importers.rows import listed
from audit.model.errors import BadInput

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
    """Return the row the user means; columns the file lacks count as empty.

    Raises:
        BadInput: no such row, several that differ, or one that was rejected; says what to choose by.
    """
    known = tables.names(path)
    selected = [given.select[0]] if given.select else []
    for name in selected:
        if name not in known:
            raise BadInput(f"{path}: --select {name}: no such column; the file has: {listed(known)}")
    wanted = [name for name in known if name in columns or name in selected]
    table = tables.read(path, wanted, positive=[name for name in known if name in positive])
    number, doubles = _number(table, given, path)
    cells = {str(name): value for name, value in table.frame.loc[number].items()}
    rejected = table.rejections()
    shown = rejected if len(rejected) <= MOST_NAMED else [*rejected[: MOST_NAMED - 1], "…", rejected[-1]]
    return Row(path, number, cells, (*doubles, *shown))


def _number(table: tables.Table, given: Given, path: Path) -> tuple[int, list[str]]:
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


def _which(numbers: list[int], table: tables.Table, given: Given, path: Path) -> str:
    by = f" with {given.select[0]} = {given.select[1]}" if given.select else ""
    if not numbers:
        rejected = f" ({table.rejections()[0]})" if table.rejected and not given.select else ""
        return f"{path}: no good row{by}{rejected}"
    shown = ", ".join(str(number) for number in numbers[:MOST_NAMED]) + (", …" if len(numbers) > MOST_NAMED else "")
    return f"{path}: {len(numbers)} rows{by} (rows {shown}); choose one with --row N or --select COLUMN=VALUE"


def _shown(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
