"""Is the memory of a parameter read as if it lay contiguously, without a word about its layout?

Silent where the file asks for or makes contiguous tensors, reads strides or uses accessors.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading, tensor_parameters
from audit.review.rule import Rule, Spot

_LAYOUT = frozenset(
    ["contiguous", "is_contiguous", "stride", "strides", "is_non_overlapping_and_dense", "expect_contiguous"]
)
_ACCESSOR = re.compile(r"packed_accessor\w*|accessor|TensorIterator\w*")
_POINTER = frozenset({"data_ptr", "const_data_ptr", "mutable_data_ptr", "data"})


def find(reading: CudaReading) -> list[Spot]:
    """Return the first pointer taken of a parameter, in a file that never mentions layout."""
    names = {call.name for call in reading.calls}
    if names & _LAYOUT or any(_ACCESSOR.fullmatch(name) for name in names) or _by_macro(reading):
        return []
    for call in reading.calls:
        function = reading.function(call.node)
        if call.name not in _POINTER or call.receiver is None or function is None or function.kind != "host":
            continue
        name = reading.text(call.receiver)
        if name in tensor_parameters(function):
            return [Spot(call.line, f"the memory of {name} is read as contiguous, and nothing here makes sure of it")]
    return []


def _by_macro(reading: CudaReading) -> bool:
    """Return whether a macro of the file asks for contiguity and is used."""
    for macro in reading.source.macros:
        body = reading.source.masked[macro.body_start : macro.end]
        if re.search(r"\b(?:is_contiguous|contiguous)\b", body):
            return True
    return False


RULE = Rule("layout", __doc__, "layout", find, standing="advice")
