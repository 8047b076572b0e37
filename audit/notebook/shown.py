"""What a cell shows: Markdown, tables, and pictures that say in words what is on them."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from audit.report import markdown
from audit.report.view import Figure, Table


class Markdown(str):
    """Text that a notebook renders as Markdown and a terminal prints."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, numeric: Iterable[int] = ()) -> Markdown:
    """A table whose cells are shown whole and as they are; a note where it has no rows."""
    known = tuple(rows)
    return written(markdown.table(Table("", columns, known, frozenset(numeric))) if known else "None.")


def written(text: str) -> Markdown:
    """Markdown of a report for a cell, where a dollar would begin a formula even when it is escaped."""
    return Markdown(text.replace(r"\$", "<code>$</code>"))


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
