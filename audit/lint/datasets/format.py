"""What a format is: the columns that tell it, and how its rows become those of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from audit.claims.importers.tables import Table


@dataclass(frozen=True)
class Format:
    """One format.

    Args:
        name: as told on a page.
        needs: the columns by which it is known.
        figures: columns of times and ratios: a cell is empty or holds a positive, finite number.
        others: the other columns that are read; what is in neither stays on disk.
        baselines: the names of its baselines, the headline's first.
        sources: columns that an importer needs beside those to make a claim folder of a row.
        convert: the good rows in the form of `Dataset.frame`, under the index of the table.
        none: a number that stands for no figure.
    """

    name: str
    needs: tuple[str, ...]
    figures: tuple[str, ...]
    others: tuple[str, ...]
    baselines: tuple[str, ...]
    sources: tuple[str, ...]
    convert: Callable[[Table], pd.DataFrame]
    none: float | None = None
