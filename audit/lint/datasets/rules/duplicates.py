"""Is one kernel counted several times, or one task scored twice?

Rows that repeat another in everything were left out when the dataset was read. Here are rows with the same code, and
rows without code of one task, kernel and GPU that say different things.
"""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark
from audit.lint.datasets.dataset import Dataset, place
from audit.report.view import Table

NAME = "duplicates"
TITLE = "Repeated code and repeated tasks"
MOST_NAMED = 5


SAME = ["gpu", "level", "task", "digest"]


def copies(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose code stands in an earlier row of the same task and GPU."""
    coded = frame[frame["digest"] != ""]
    return coded[coded.duplicated(SAME, keep="first")]


def run(data: Dataset) -> Answer:
    """Return the number of rows with the code of another row, and the tasks that stand twice with other figures."""
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
    marks = [mark(row, NAME, "hint", "the code of an earlier row of this task") for _, row in copied.iterrows()]
    marks += [mark(row, NAME, "hint", "scored before, with other figures") for _, row in twice.iterrows()]
    most = (
        coded.groupby(SAME, sort=False)["row"]
        .agg(["size", "first"])
        .sort_values("size", ascending=False, kind="stable")
    )
    rows = tuple(
        (place(frame[frame["row"] == first].iloc[0]), f"{size:,}")
        for size, first in most[most["size"] > 1].head(MOST_NAMED).itertuples(index=False)
    )
    tables = (Table("Code that stands in most rows", ("First row", "Rows"), rows, frozenset({1})),) if rows else ()
    return Answer(NAME, TITLE, tuple(sentences), (), tables, tuple(marks))
