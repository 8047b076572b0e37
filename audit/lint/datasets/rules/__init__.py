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
)

Rule = Callable[[Dataset], Answer]

RULES: dict[str, Rule] = {
    strongest_baseline.NAME: strongest_baseline.run,
    baselines_disagree.NAME: baselines_disagree.run,
    carried_mean.NAME: carried_mean.run,
    published.NAME: published.run,
    floor.NAME: floor.run,
    artifact.NAME: artifact.run,
    marked_wrong.NAME: marked_wrong.run,
    own_arithmetic.NAME: own_arithmetic.run,
    duplicates.NAME: duplicates.run,
    best_of_many.NAME: best_of_many.run,
    levels.NAME: levels.run,
    portability.NAME: portability.run,
}
