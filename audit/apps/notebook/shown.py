"""Outputs of a cell: Markdown, tables, and pictures with a text for readers without images."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from audit.model.errors import BadInput
from audit.report import markdown, safe_csv
from audit.report.view import Figure, Table

MOST_ROWS = 20
"""Rows of a table on the screen; its CSV file has all."""


class Markdown(str):
    """Text that a notebook renders as Markdown and a terminal prints."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def table(
    columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, numeric: Iterable[int] = (), file: Path | None = None
) -> Markdown:
    """A table whose cells are shown whole and as they are; a note where it has no rows.

    Args:
        columns: their headings.
        rows: the cells, a tuple a row.
        numeric: places of the columns of numbers.
        file: a CSV file to write all rows to and to link; with it at most `MOST_ROWS` are shown.

    Raises:
        BadInput: the file cannot be written.
    """
    known = tuple(rows)
    if not known:
        return Markdown("None.")
    shown = known if file is None else known[:MOST_ROWS]
    drawn = markdown.table(Table("", columns, shown, frozenset(numeric)))
    return written(drawn if file is None else f"{drawn}\n\n{_linked(file, columns, known)}")


def written(text: str) -> Markdown:
    """Markdown of a report for a cell, where a dollar would begin a formula even when it is escaped."""
    return Markdown(text.replace(r"\$", "<code>$</code>"))


def _linked(file: Path, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    """Writes the CSV file; says where it is and how many rows it has, as a link that holds beside the notebook."""
    try:
        file.write_text(safe_csv.text(columns, rows), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{file}: cannot be written ({error.strerror}); make room, or name another folder") from error
    count = "1 row" if len(rows) == 1 else f"all {len(rows)} rows"
    return f"[{count} as CSV](<{quote(file.as_posix())}>): {markdown.code(str(file))}"


class Picture:
    """A figure of a report as a cell's output; readers without images get its text."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def __repr__(self) -> str:
        return self._figure.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """The image and its text; nbconvert takes `alt` from the metadata."""
        data = {"image/png": base64.b64encode(self._figure.png).decode("ascii"), "text/plain": self._figure.alt}
        return data, {"image/png": {"alt": self._figure.alt}}
