"""The shapes stage: which sizes speak for a claim, read from the claimed sizes and the numbers its source names."""

from audit.claims.shapes.counting import (
    MOST_WORK,
    Scope,
    candidates,
    counts,
    first_that_fits,
    keeps,
    scope_of,
    smallest,
)
from audit.claims.shapes.numbers import named
from audit.claims.shapes.sweep import Rule, explanation, sharper, sizes

__all__ = [
    "MOST_WORK",
    "Rule",
    "Scope",
    "candidates",
    "counts",
    "explanation",
    "first_that_fits",
    "keeps",
    "named",
    "scope_of",
    "sharper",
    "sizes",
    "smallest",
]
