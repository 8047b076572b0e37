"""Rows for a spreadsheet as CSV: no text of others is a formula there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import lru_cache

from audit.model import sanitizer

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""The beginnings of a spreadsheet formula, with the wide forms of some languages; see OWASP, "CSV Injection"."""


def text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows under their columns; numbers with all their digits, texts on one line and never as a formula."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(one) if isinstance(one, str) else one for one in row])
    return table.getvalue()


@lru_cache(maxsize=256)
def cell(text: str) -> str:
    """Return one line of visible characters that begins like no formula; a number stays one."""
    shown = sanitizer.line(text)
    return f"'{shown}" if shown.startswith(FORMULA) and not _number(shown) else shown


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
