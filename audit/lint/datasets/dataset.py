"""A published dataset in one form, the same for every format: one row a kernel on one GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import PositiveFloat, PositiveInt

from audit.claims.importers.rows import Rejected
from audit.model.base import Frozen

RATIO = "ratio "
"""What the columns of published ratios begin with; the baseline's name follows."""
TIME = "time "
"""The same for published times of baselines, in the unit of `kernel_time`."""
NOT_STATED = "not stated"
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
