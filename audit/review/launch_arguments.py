"""Which tensor's memory a launch hands to which parameter of its kernel."""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Launch
from audit.review.token_scan import split_commas

_POINTER = re.compile(
    r"(?:\([\w\s:*]+\)\s*|\w+_cast\s*<[^<>]*>\s*\(\s*)?(\w+)\s*\.\s*(?:mutable_)?data(?:_ptr)?\s*(?:<[^()]*>)?\s*\("
)


def tensors_given(reading: CudaReading, launch: Launch) -> dict[int, str]:
    """Position of the kernel's parameter to the tensor's name; arguments of any other form are left out."""
    masked = reading.source.masked
    first, last = launch.arguments_start, launch.end - 1
    found = {}
    for position, (start, end) in enumerate(split_commas(masked, first, last)):
        text = masked[start:end].strip()
        name = match[1] if (match := _POINTER.match(text)) else _pointer_variable(reading, launch, text)
        if name:
            found[position] = name
    return found


def _pointer_variable(reading: CudaReading, launch: Launch, text: str) -> str | None:
    """The tensor behind `float* p = x.data_ptr<float>();`."""
    function = reading.source.function_at(launch.start)
    for variable in reading.variables:
        inside = function is not None and function.body_start < variable.node.start_byte < launch.start
        if inside and variable.name == text and variable.value is not None:
            match = _POINTER.match(reading.text(variable.value))
            return match[1] if match else None
    return None
