"""A rest of the problem that no thread computes: a number of blocks that is rounded up.

Proposed where coverage proved unwritten elements, and where the source rule `floor_grid` finds the quotient.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.model import Finding
from audit.model.generated import Change
from audit.review.cuda_reading import CudaReading
from audit.review.repairs.lines import failed, replaced
from audit.review.rules.cuda.grids import quotients


def propose(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the quotients, rounded up."""
    found = []
    for node in quotients(reading) if failed(proved, "coverage") else ():
        size, block = (node.child_by_field_name(name) for name in ("left", "right"))
        if size is not None and block is not None and re.fullmatch(r"\w+", divisor := reading.text(block)):
            new = f"({reading.text(size)} + {divisor} - 1) / {divisor}"
            what = f"grid rounded up on line {reading.line(node)}"
            found += replaced(reading.source, node.start_byte, node.end_byte, new, what=what)
    return found
