"""Rules about single rows: their code, their marks, their repetition."""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark, not_asked, rule, share, times, unless_empty
from audit.lint.datasets.dataset import Dataset, place
from audit.report.view import Table

MANY = 50
"""Rows of which some would be slower by chance alone."""
MOST_COPIED = 5
SAME = ["gpu", "level", "task", "digest"]


@rule("Scores without code, code without scores")
def artifact(data: Dataset) -> Answer:
    """Is there code behind every score, and a score for all code? What do the figures leave out?

    A row without a score is a kernel that failed, was slower or was never tried. A figure over the scored rows alone
    speaks of survivors; beside it stands the same with every other row counted as 1x, as if the baseline had been
    kept. Where not one of many rows is slower than the baseline of the headline, rows were chosen by that very
    figure.
    """
    frame = data.frame
    scored = frame[data.headline].notna()
    bare = frame[scored & ~frame["has_code"]]
    parts = [(str(gpu), rows) for gpu, rows in frame.groupby("gpu", sort=False)]
    columns = ("GPU", "Rows", "With a score", "Score without code", "Code without score", "Neither",
               "Median of the scored (errs high)", "Median with the others as 1x")  # fmt: skip
    table = Table("Rows, code and scores", columns, tuple(_counts(gpu, rows, data) for gpu, rows in parts),
                  frozenset(range(1, 8)))  # fmt: skip
    missing = int((~scored).sum())
    behind = f"Scores without code to check them by: {len(bare):,}" if len(bare) else "Every score has its code"
    sentences = (f"{behind}; rows without a score, in no figure: {count(missing, len(frame))}.", *_chosen(data))
    bias = (
        "A figure over scored rows alone errs high: what failed or was slower is not in it. Where rows were chosen by "
        "the figure itself, luck in the timing is chosen with it.",
    )
    marks = tuple(mark(row, "hint", "a score without code") for _, row in bare.iterrows())
    return Answer(sentences, bias, (table,), marks)


def _chosen(data: Dataset) -> list[str]:
    """Return the sentence for a dataset in which nothing is slower than the headline's baseline."""
    ratios = data.scored[data.headline]
    if len(ratios) < MANY or ratios.min() < 1:
        return []
    others = data.scored[data.ratios[1:]]
    slower = f", while {share(float((others.min(axis=1) < 1).mean()))} are slower than another" if others.size else ""
    return [f"None of {len(ratios):,} scored rows is slower than {data.baselines[0]}{slower}: rows were chosen by it."]


def _counts(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
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


@rule("Speedups of kernels marked wrong")
def marked_wrong(data: Dataset) -> Answer:
    """Do kernels that the dataset itself marks as wrong carry a speedup?"""
    frame = data.frame
    if frame["correct"].all():
        return not_asked("no row is marked wrong, or the dataset marks none")
    scored = frame[frame[data.headline].notna()]
    wrong = scored[~scored["correct"]]
    sentences = [
        f"{count(len(wrong), len(scored))} of the rows with a speedup are marked wrong; no figure counts them."
    ]
    if len(wrong) and len(data.scored):
        least, most = data.scored[data.headline].median(), scored[data.headline].median()
        sentences.append(f"Counted all the same, the median would move from {times(least)} to {times(most)}.")
    bias = ("A dataset's own mark is taken as it is: kernels it marks right may be wrong; an audit of each tells.",)
    text = "marked wrong, with a speedup of"
    marks = tuple(mark(row, "hint", f"{text} {times(row[data.headline])}") for _, row in wrong.iterrows())
    return Answer(tuple(sentences), bias, (), marks)


def copies(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose code stands in an earlier row of the same task and GPU."""
    coded = frame[frame["digest"] != ""]
    return coded[coded.duplicated(SAME, keep="first")]


@rule("Repeated code and repeated tasks")
def duplicates(data: Dataset) -> Answer:
    """Is one kernel counted several times, or one task scored twice?

    Rows that repeat another in everything were left out when the dataset was read. Here are rows with the same code,
    and rows without code of one task, kernel and GPU that say different things.
    """
    frame = data.frame
    coded = frame[frame["digest"] != ""]
    copied = copies(frame)
    bare = frame[(frame["task"] != "") & (frame["digest"] == "")]
    twice = bare[bare.duplicated(["gpu", "level", "task", "kernel"], keep="first")]
    sentences = [f"Rows without code that give a task, kernel and GPU of an earlier row other figures: {len(twice):,}."]
    if len(coded):
        result = count(len(copied), len(coded))
        sentences.append(f"{result} of the rows with code hold the code of an earlier row of the same task.")
    else:
        sentences.append("No row holds its code, so nothing is said about copies.")
    marks = [mark(row, "hint", "the code of an earlier row of this task") for _, row in copied.iterrows()]
    marks += [mark(row, "hint", "scored before, with other figures") for _, row in twice.iterrows()]
    most = coded.groupby(SAME, sort=False)["row"].agg(["size", "first"])
    most = most[most["size"] > 1].sort_values("size", ascending=False, kind="stable")
    rows = tuple(
        (place(frame[frame["row"] == first].iloc[0]), f"{size:,}")
        for size, first in most.head(MOST_COPIED).itertuples(index=False)
    )
    table = Table("Code that stands in most rows", ("First row", "Rows"), rows, frozenset({1}))
    return Answer(tuple(sentences), (), unless_empty(table), tuple(marks))
