"""Claims by the thousand: what the numbers of a published dataset say on their own. Nothing is built or run.

reading ─► formats ─► dataset ─► rules ─► figures, page
"""

from __future__ import annotations

from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.reading import read
from audit.lint.datasets.rules import RULES

__all__ = ["Dataset", "lint", "read"]


def lint(data: Dataset) -> list[Answer]:
    """Return every rule's answer, in the order of the table."""
    return [rule(data) for rule in RULES.values()]
