"""Memory of tensors: allocated by a host function, handed to a kernel by a launch, stored into by the kernel."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import sides
from audit.review.cuda_reading import CudaReading, Variable
from audit.review.cuda_source import Function, Launch
from audit.review.token_scan import split_commas

METADATA = re.compile(r"\s*\.\s*(?:size|sizes|numel|dim|options|device|dtype|scalar_type|stride|strides)\s*\(")
"""What follows the name of a tensor of which only sizes and types are asked."""
_EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty"})
_POINTER = re.compile(
    r"(?:\([\w\s:*]+\)\s*|\w+_cast\s*<[^<>]*>\s*\(\s*)?(\w+)\s*\.\s*(?:mutable_)?data(?:_ptr)?\s*(?:<[^()]*>)?\s*\("
)
_SETTING = frozenset({"atomicExch", "atomicCAS"})


def is_uninitialised(reading: CudaReading, variable: Variable) -> bool:
    """Return whether the initial value of a variable is one call that allocates and does not fill."""
    value = variable.value
    if value is not None and value.type == "argument_list" and value.named_child_count == 1:
        value = value.named_children[0]
    return value is not None and _allocations(reading).get(value.start_byte) == value.end_byte


@lru_cache(maxsize=1)
def _allocations(reading: CudaReading) -> dict[int, int]:
    """Return offsets of the calls that allocate and do not fill: where each starts, and past its end."""
    return {call.node.start_byte: call.node.end_byte for call in reading.calls if call.name in _EMPTY}


def tensors_given(reading: CudaReading, launch: Launch) -> dict[int, str]:
    """Return position of the kernel's parameter to the tensor's name; arguments of any other form are left out."""
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
    """Return the tensor behind `float* p = x.data_ptr<float>();`."""
    function = reading.source.function_at(launch.start)
    variable = reading.declared(text, function, launch.start) if function else None
    match = _POINTER.match(reading.text(variable.value)) if variable and variable.value else None
    return match[1] if match else None


@lru_cache(maxsize=1024)
def stored_parameters(reading: CudaReading, kernel_name: str) -> dict[int, bool]:
    """Return position of each pointer parameter that the kernel itself stores through, and whether it only adds there.

    A store that adds needs the value before: `+=`, `++` and most atomics.
    """
    kernel = reading.kernel(kernel_name)
    if kernel is None:
        return {}
    plain, adding = _stores(reading, kernel)
    return {
        position: parameter.name not in plain
        for position, parameter in enumerate(kernel.parameters)
        if parameter.name in plain | adding and parameter.is_pointer and not parameter.text.startswith("const ")
    }


def _stores(reading: CudaReading, kernel: Function) -> tuple[set[str | None], set[str | None]]:
    """Return the names through which a kernel stores plainly, and those through which it adds."""
    plain: set[str | None] = set()
    adding: set[str | None] = set()
    for node, left, _ in sides(reading.inside(kernel, "assignment_expression")):
        (plain if node.children[1].type == "=" else adding).add(_base(reading, left))
    for node in reading.inside(kernel, "update_expression"):
        if (target := node.child_by_field_name("argument")) is not None:
            adding.add(_base(reading, target))
    for call in reading.calls_in(kernel):
        if call.name.startswith("atomic") and call.arguments:
            first = call.arguments[0]
            inner = first.child_by_field_name("argument") if first.type == "pointer_expression" else first
            names = () if inner is None else (_base(reading, inner), reading.text(inner).split("+")[0].strip())
            (plain if call.name in _SETTING else adding).update(names)
    return plain, adding


def _base(reading: CudaReading, place: Node) -> str | None:
    """Return the pointer's name in `p[i]`, `*p`, `*(p + i)`; None for a plain variable."""
    if place.type == "subscript_expression":
        base = place.child_by_field_name("argument")
        return reading.text(base) if base is not None and base.type == "identifier" else None
    if place.type == "pointer_expression":
        inner = place.child_by_field_name("argument")
        return reading.text(inner).strip("( ").split("+")[0].strip() if inner is not None else None
    return None
