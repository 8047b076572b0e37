"""A published dataset in one form, one row a kernel on one GPU; what a format is, and the reading of its cells."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import PositiveFloat, PositiveInt

from audit.claims.importers.rows import Rejected
from audit.claims.importers.tables import Table
from audit.model.base import Frozen

RATIO = "ratio "
"""What the columns of published ratios begin with; the baseline's name follows."""
TIME = "time "
"""The same for published times of baselines, in the unit of `kernel_time`."""
NOT_STATED = "not stated"
NOTHING = ("", "None", "null", "nan")
"""Texts that stand for no code."""
MS_PER = {"ms": 1.0, "us": 1e-3}
COLUMNS = {
    "file": "",
    "row": 0,
    "gpu": NOT_STATED,
    "level": "",
    "task": "",
    "kernel": "",
    "correct": True,
    "has_code": False,
    "digest": "",
    "kernel_time": np.nan,
    "flops": np.nan,
    "bytes": np.nan,
}
"""What every row has, with the value that says nothing is known.

`row` counts as the file does, from 1; `correct` is False where the dataset itself marks a kernel wrong; `digest` is
that of its code, empty where the dataset gives none; `kernel_time` is in the dataset's own unit; `flops` and `bytes`
are the least work of the task where its shapes allow to say.
"""


Statistic = Literal["mean", "median", "maximum", "upper quartile", "rows"]


class Published(Frozen):
    """One figure published about the dataset; `rows` is a count of rows with a ratio."""

    gpu: str
    statistic: Statistic
    value: PositiveFloat
    level: str = ""
    baseline: str = ""


class About(Frozen):
    """The file `dataset.toml`: title, source, licence, remarks, the GPU where no row names one, published figures."""

    title: str = ""
    source: str = ""
    retrieved: str = ""
    note: str = ""
    gpu: str = ""
    rows: PositiveInt | None = None
    published: tuple[Published, ...] = ()


@dataclass(frozen=True)
class Refused(Rejected):
    """A row, or a cell of it, that cannot be used, and the file it stands in."""

    file: str

    def __str__(self) -> str:
        return f"{self.file}, {super().__str__()}"


@dataclass(frozen=True)
class Dataset:
    """The good rows of one dataset.

    Of the figures that were made of it `about` knows, and where it was published, if somebody said.
    """

    name: str  # on a page
    format: str
    frame: pd.DataFrame  # the columns of `COLUMNS`, one of ratios a baseline (baseline time / kernel time, NaN: none)
    baselines: tuple[str, ...]  # in the order of the dataset; the first is the headline's
    unit: str | None  # of times, "ms" or "us"; None where there are none or nothing says which
    read: int  # rows in the files
    refused: tuple[Refused, ...] = ()  # what was left out, and why
    notes: tuple[str, ...] = ()  # how it was read, where that was a choice: units, GPUs
    about: About = field(default_factory=About)

    @property
    def headline(self) -> str:
        """The column of the ratios the headline is made of."""
        return RATIO + self.baselines[0]

    @property
    def ratios(self) -> list[str]:
        """The columns of ratios."""
        return [RATIO + name for name in self.baselines]

    @property
    def scored(self) -> pd.DataFrame:
        """The rows that a headline counts: not marked wrong, with a headline ratio."""
        return self.frame[self.frame["correct"] & self.frame[self.headline].notna()]

    def by_gpu(self) -> list[tuple[str, pd.DataFrame]]:
        """Return the scored rows of each GPU, in the order of the dataset."""
        return [(str(gpu), rows) for gpu, rows in self.scored.groupby("gpu", sort=False)]


def place(row: pd.Series) -> str:
    """Return a row for people: `H100, level 2, task 96`; the kernel's name where there is one."""
    found = [row["gpu"] if row["gpu"] != NOT_STATED else ""]
    found += [f"level {row['level']}" if row["level"] else "", f"task {row['task']}" if row["task"] else ""]
    found += [str(row["kernel"])]
    return ", ".join(filter(None, found)) or f"row {row['row']}"


def completed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with every column of `COLUMNS`, then ratios and times, and nothing else."""
    unknown = {name: value for name, value in COLUMNS.items() if name not in frame}
    kept = [name for name in frame if str(name).startswith((RATIO, TIME))]
    return frame.assign(**unknown)[[*COLUMNS, *kept]]


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
