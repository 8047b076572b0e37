"""The rules of the lint over datasets, one a file. The table is the list of what is asked, in this order."""

from __future__ import annotations

from collections.abc import Callable

from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import (
    artifact,
    baselines_disagree,
    best_of_many,
    carried_mean,
    duplicates,
    floor,
    levels,
    marked_wrong,
    own_arithmetic,
    portability,
    published,
    strongest_baseline,
    where_work_is,
)

Rule = Callable[[Dataset], Answer]

_TABLE = (
    strongest_baseline, baselines_disagree, carried_mean, published, floor, artifact, marked_wrong, own_arithmetic,
    duplicates, best_of_many, levels, where_work_is, portability,
)  # fmt: skip
RULES: dict[str, Rule] = {rule.NAME: rule.run for rule in _TABLE}
