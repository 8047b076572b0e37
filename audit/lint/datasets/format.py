"""A format of datasets: the columns it is known by, the conversion of its rows, and the reading of its cells."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.claims.importers.tables import Table

NOTHING = ("", "None", "null", "nan")
"""Texts that stand for no code."""


@dataclass(frozen=True)
class Format:
    """One format of datasets."""

    name: str  # on a page
    needs: tuple[str, ...]  # the columns by which it is known
    figures: tuple[str, ...]  # columns of times and ratios: a cell is empty or holds a positive, finite number
    others: tuple[str, ...]  # the other columns that are read; what is in neither stays on disk
    baselines: tuple[str, ...]  # the headline's first
    sources: tuple[str, ...]  # columns that an importer needs beside those to make a claim folder of a row
    convert: Callable[[Table], dict[str, Any]]  # to columns of `Dataset.frame`, under the index of the table
    none: float | None = None  # a number that stands for no figure


def labels(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return a column such as 2, 2.0 or "2" as text, all "2"; empty where the cell or the column is missing."""
    return _by_cell(frame, column, _label, absent="")


def truths(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return a column of yes and no, however it is written, as booleans; yes where the column is missing."""
    said = _by_cell(frame, column, lambda cell: str(cell).strip().lower() in ("true", "1", "1.0"), absent=True)
    return said.astype(bool)


def _by_cell(frame: pd.DataFrame, column: str, read: Callable[[Any], Any], *, absent: Any) -> pd.Series:
    return frame[column].map(read) if column in frame else pd.Series(absent, index=frame.index)


def _label(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else sound(str(cell))


def sound(text: str) -> str:
    """Return the text with a question mark for each lone surrogate, which JSON can hold and no table can."""
    return text.encode("utf-8", "replace").decode("utf-8")


def present(frame: pd.DataFrame, column: str) -> pd.Series:
    """True where the cell holds text other than blanks and the words for nothing, as of a table written from values."""
    there = _by_cell(frame, column, lambda text: isinstance(text, str) and text.strip() not in NOTHING, absent=False)
    return there.astype(bool)


def digests(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return a digest of each cell's text, runs of white space counted as one blank; empty where there is no text."""

    def digest(text: object) -> str:
        words = text.split() if isinstance(text, str) else []
        return hashlib.blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest() if words else ""

    return _by_cell(frame, column, digest, absent="")
