"""Rows for a spreadsheet as CSV: no text of others is a formula there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from audit.model import sanitizer

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet computes, the wide forms too where its language has them; see OWASP, "CSV Injection"."""


def text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The rows under their columns; numbers with all their digits, texts on one line and never as a formula."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(one) if isinstance(one, str) else one for one in row])
    return table.getvalue()


def cell(told: str) -> str:
    """One line of visible characters that begins like no formula; a number stays one."""
    shown = sanitizer.line(told)
    return f"'{shown}" if shown.startswith(FORMULA) and not _number(shown) else shown


def _number(told: str) -> bool:
    try:
        float(told)
    except ValueError:
        return False
    return True
