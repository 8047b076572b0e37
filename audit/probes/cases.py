"""Which of the cases of a target a probe asks about: the largest, one of middle size, those that count."""

from __future__ import annotations

import math
from collections.abc import Sequence

from audit.probes.called import Case

MOST_MIDDLE_BYTES = 32 << 20
"""Of the inputs and the right result of a case at which many questions are asked, where there is a smaller one."""


def largest_of(cases: Sequence[Case]) -> Case:
    """The case with the most elements."""
    return max(cases, key=_size)


def middle_of(cases: Sequence[Case]) -> Case:
    """A case of middle size, or a smaller one where its arrays are large."""
    by_size = counting(cases)
    place = len(by_size) // 2
    while place and by_size[place].bytes > MOST_MIDDLE_BYTES:
        place -= 1
    return by_size[place]


def counting(cases: Sequence[Case]) -> list[Case]:
    """The cases whose failures are the claim's, the smallest first; where there is none, all."""
    return sorted([case for case in cases if case.counts] or cases, key=_size)


def _size(case: Case) -> tuple[int, int]:
    """Elements of the result; where that is the same for all, as one number is, the sizes of the problem."""
    return case.expected.size, math.prod(case.shape.values())
