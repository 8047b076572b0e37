"""The rules of the lint over datasets, by subject. The table is the list of what is asked, in this order."""

from __future__ import annotations

from collections.abc import Callable

from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import baselines, hardware, rows, summaries

Rule = Callable[[Dataset], Answer]
_TABLE: tuple[Rule, ...] = (
    baselines.strongest_baseline,
    baselines.baselines_disagree,
    summaries.carried_mean,
    summaries.published,
    hardware.floor,
    rows.artifact,
    rows.marked_wrong,
    baselines.own_arithmetic,
    rows.duplicates,
    summaries.best_of_many,
    summaries.levels,
    summaries.where_work_is,
    hardware.portability,
)
RULES: dict[str, Rule] = {rule.__name__: rule for rule in _TABLE}
