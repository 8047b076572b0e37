"""Tensors of a host function whose memory is handed out uninitialised."""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_source import Function

METADATA = re.compile(r"\s*\.\s*(?:size|sizes|numel|dim|options|device|dtype|scalar_type|stride|strides)\s*\(")
"""What follows the name of a tensor of which only sizes and types are asked."""
_EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty"})


def uninitialised(reading: CudaReading, function: Function) -> list[Variable]:
    """Variables whose initial value is one call that allocates and does not fill."""
    starts = {call.node.start_byte: call for call in reading.calls if call.name in _EMPTY}
    found = []
    for variable in reading.variables:
        value = variable.value
        inside = function.body_start < variable.node.start_byte < function.end
        if inside and value is not None and value.type == "argument_list" and value.named_child_count == 1:
            value = value.named_children[0]
        call = starts.get(value.start_byte) if inside and value is not None else None
        if call is not None and value is not None and call.node.end_byte == value.end_byte:
            found.append(variable)
    return found
