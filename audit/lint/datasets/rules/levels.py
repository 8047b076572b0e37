"""What do the levels of the benchmark say one by one? A mean over levels hides which of them it comes from."""

from __future__ import annotations

from audit.lint.datasets.answer import Answer, not_asked, share, times
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules.carried_mean import aggregates
from audit.lint.datasets.rules.strongest_baseline import strongest
from audit.report.view import Table

NAME = "levels"
TITLE = "Level by level"


def run(data: Dataset) -> Answer:
    """Return one row a GPU and level."""
    scored = data.scored[data.scored["level"] != ""]
    if scored["level"].nunique() < 2:
        return not_asked(NAME, TITLE, "fewer than two levels are named")
    rows = []
    for (gpu, level), part in scored.groupby(["gpu", "level"], sort=False):
        one, best = aggregates(part[data.headline].to_numpy()), strongest(part, data)
        rows.append(
            (str(gpu), str(level), f"{one.rows:,}", times(one.mean), times(one.median), times(one.geometric_mean),
             times(best.median()), share((best < 1).sum(), len(best)))
        )  # fmt: skip
    columns = ("GPU", "Level", "Rows", "Mean (errs high)", "Median", "Geometric mean",
               "Median against the strongest (errs low)", "Slower than the strongest")  # fmt: skip
    table = Table(f"Ratios against {data.baselines[0]}, level by level", columns, tuple(rows), frozenset(range(2, 8)))
    shown = max(rows, key=lambda row: float(row[3].replace(",", "").rstrip("x")))
    sentence = f"Highest mean: {shown[0]}, level {shown[1]}: {shown[3]}, with a median of {shown[4]}."
    return Answer(
        NAME, TITLE, (sentence,), ("Rows of unequal number stand behind each level; few rows move far.",), (table,)
    )
