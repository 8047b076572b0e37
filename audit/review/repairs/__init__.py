"""Repairs that can be generated: from a source and what was proved of it to single changes, one kind a file.

A change is proposed where the source says by itself what it must be. The audit builds it and asks about it, so a wrong
proposal costs time and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.model import Finding
from audit.model.generated import MOST_REPAIRS, Change
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse
from audit.review.repairs import barrier, grid, guard, zeros

KINDS = (grid, barrier, guard, zeros)
"""In the order in which they are tried; each has `propose`."""


def propose(text: str, proved: Sequence[Finding]) -> list[Change]:
    """Return the changes to try, each once, the likeliest first; none where the source does not say what to change.

    Args:
        text: the CUDA source of the claimed kernel.
        proved: the failures and the undefined behaviour that were proved of it.
    """
    reading = CudaReading(parse(text))
    found = [change for kind in KINDS for change in kind.propose(reading, proved)]
    return list(dict.fromkeys(found))[:MOST_REPAIRS]
