"""An output that keeps what its memory held: the same allocation, filled with zeros.

Proposed where the source has one allocation that does not fill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.model import Finding
from audit.model.generated import Change
from audit.review.cuda_reading import CudaReading
from audit.review.repairs.lines import failed, replaced, reports

FILLED = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
PROBES = ("coverage", "inherited")


def propose(reading: CudaReading, proved: Sequence[Finding]) -> list[Change]:
    """Return the change of the one allocation."""
    if not failed(proved, *PROBES) and not any(reports(proved, ["uninitialised-read"])):
        return []
    calls = [call for call in reading.calls if call.name in FILLED and (call.scope in ("torch", "at") or call.receiver)]
    if len(calls) != 1:
        return []
    node, name = calls[0].node, calls[0].name
    called = re.compile(rf"\b{name}\b").search(reading.source.masked, node.start_byte, node.end_byte)
    if called is None:
        return []
    return replaced(reading.source, *called.span(), FILLED[name], what="zero-initialised output")
