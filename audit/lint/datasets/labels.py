"""Cells that name something, as text: levels, tasks, kernels."""

from __future__ import annotations

import math

import pandas as pd


def labels(frame: pd.DataFrame, column: str) -> pd.Series:
    """A column such as 2, 2.0 or "2" as text, all "2"; empty where the cell or the column is missing."""
    if column not in frame:
        return pd.Series("", index=frame.index)
    return frame[column].map(_label)


def truths(frame: pd.DataFrame, column: str, *, absent: bool) -> pd.Series:
    """A column of yes and no, however it is written, as booleans; `absent` where the column is missing."""
    if column not in frame:
        return pd.Series(absent, index=frame.index)
    return frame[column].map(lambda cell: str(cell).strip().lower() in ("true", "1", "1.0")).astype(bool)


def _label(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else sound(str(cell))


def sound(text: str) -> str:
    """The text with a question mark for each lone surrogate, which JSON can hold and no table can."""
    return text.encode("utf-8", "replace").decode("utf-8")
