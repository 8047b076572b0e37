"""Is there code behind every score, and a score for all code? What do the figures leave out?

A row without a score is a kernel that failed, was slower or was never tried. A figure over the scored rows alone speaks
of survivors; beside it stands the same with every other row counted as 1x, as if the baseline had been kept. Where not
one of many rows is slower than the baseline of the headline, rows were chosen by that very figure.
"""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark, share, times
from audit.lint.datasets.dataset import Dataset
from audit.report.view import Table

NAME = "artifact"
TITLE = "Scores without code, code without scores"

MANY = 50
"""Rows of which some would be slower by chance alone."""


def run(data: Dataset) -> Answer:
    """Counts per GPU, and the rows with a score and nothing to check it by."""
    frame = data.frame
    scored = frame[data.headline].notna()
    bare = frame[scored & ~frame["has_code"]]
    parts = [(str(gpu), rows) for gpu, rows in frame.groupby("gpu", sort=False)]
    columns = ("GPU", "Rows", "With a score", "Score without code", "Code without score", "Neither",
               "Median of the scored (errs high)", "Median with the others as 1x")  # fmt: skip
    table = Table("Rows, code and scores", columns, tuple(_row(gpu, rows, data) for gpu, rows in parts),
                  frozenset(range(1, 8)))  # fmt: skip
    missing = int((~scored).sum())
    behind = f"Scores without code to check them by: {len(bare):,}" if len(bare) else "Every score has its code"
    sentences = (f"{behind}; rows without a score, in no figure: {count(missing, len(frame))}.", *_chosen(data))
    bias = (
        "A figure over scored rows alone errs high: what failed or was slower is not in it. Where rows were chosen by "
        "the figure itself, luck in the timing is chosen with it.",
    )
    marks = tuple(mark(row, NAME, "hint", "a score without code") for _, row in bare.iterrows())
    return Answer(NAME, TITLE, sentences, bias, (table,), marks)


def _chosen(data: Dataset) -> list[str]:
    """Return the sentence for a dataset in which nothing is slower than the headline's baseline."""
    ratios = data.scored[data.headline]
    if len(ratios) < MANY or ratios.min() < 1:
        return []
    others = data.scored[data.ratios[1:]]
    slower = f", while {share(float((others.min(axis=1) < 1).mean()))} are slower than another" if others.size else ""
    return [f"None of {len(ratios):,} scored rows is slower than {data.baselines[0]}{slower}: rows were chosen by it."]


def _row(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
    scored, coded = rows[data.headline].notna(), rows["has_code"]
    counted = scored & rows["correct"]
    survivors = rows.loc[counted, data.headline]
    return (
        gpu,
        f"{len(rows):,}",
        f"{int(scored.sum()):,}",
        f"{int((scored & ~coded).sum()):,}",
        f"{int((~scored & coded).sum()):,}",
        f"{int((~scored & ~coded).sum()):,}",
        times(survivors.median()) if len(survivors) else "none",
        times(rows[data.headline].where(counted, 1.0).median()),
    )
