"""The code a dataset holds: whether there is any, and which rows hold the same."""

from __future__ import annotations

import hashlib

import pandas as pd


def present(frame: pd.DataFrame, column: str) -> pd.Series:
    """True where the cell holds text other than blanks."""
    if column not in frame:
        return pd.Series(False, index=frame.index)
    return frame[column].map(lambda text: isinstance(text, str) and bool(text.strip())).astype(bool)


def digests(frame: pd.DataFrame, column: str) -> pd.Series:
    """A digest of each cell's text, runs of white space counted as one blank; empty where there is no text."""
    if column not in frame:
        return pd.Series("", index=frame.index)
    return frame[column].map(_digest)


def _digest(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        return ""
    return hashlib.blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=12).hexdigest()
