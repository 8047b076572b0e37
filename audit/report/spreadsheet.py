"""Tables as CSV, for spreadsheets and pandas: every cell is text or a number and never a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from audit.report import plain

FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes a cell's first character for a formula by."""


def text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """RFC 4180 with plain newlines; the first line names the columns."""
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(one) for one in row] for row in rows)
    return told.getvalue()


def cell(value: str) -> str:
    """One line of visible characters; an apostrophe before what would be a formula, as spreadsheets write it."""
    told = plain.line(value)
    return f"'{told}" if told.startswith(FORMULA) and not _number(told) else told


def _number(told: str) -> bool:
    try:
        float(told)
    except ValueError:
        return False
    return True
