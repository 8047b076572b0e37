"""Where many kernels were tried for a task, is the published one the luckiest?

The largest of many noisy ratios errs high even if all kernels were equally fast.
"""

from __future__ import annotations

from audit.lint.datasets.answer import Answer, not_asked, share, times
from audit.lint.datasets.dataset import Dataset
from audit.report.view import Table

NAME = "best_of_many"
TITLE = "The best of many kernels"
TASK = ["gpu", "level", "task"]


def run(data: Dataset) -> Answer:
    """Per GPU: the median over tasks of the best kernel beside that of the middle one."""
    tasks = data.scored[data.scored["task"] != ""].groupby(TASK, sort=False)[data.headline]
    known = tasks.agg(["size", "max", "median"]).reset_index()
    if known.empty or known["size"].max() < 2:
        return not_asked(NAME, TITLE, "no task has more than one scored kernel")
    rows = tuple(
        (
            str(gpu),
            f"{len(part):,}",
            f"{part['size'].median():,.0f}",
            times(part["max"].median()),
            times(part["median"].median()),
            share((part["max"] > 1).sum(), len(part)),
            share((part["median"] > 1).sum(), len(part)),
        )
        for gpu, part in known.groupby("gpu", sort=False)
    )
    columns = ("GPU", "Tasks", "Kernels a task (median)", "Best kernel, median over tasks (errs high)",
               "Middle kernel, median over tasks", "Tasks whose best is faster",
               "Tasks whose middle one is faster")  # fmt: skip
    text = "; ".join(f"{row[0]}: best {row[3]}, middle {row[4]}" for row in rows)
    bias = (
        "The best of many noisy ratios errs high, the more the larger their number; times taken again for the chosen "
        "kernel alone would tell by how much.",
    )
    sentence = f"Median over tasks against {data.baselines[0]}: {text}."
    return Answer(
        NAME, TITLE, (sentence,), bias, (Table("Best and middle kernel", columns, rows, frozenset(range(1, 7))),)
    )
