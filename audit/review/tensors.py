"""Memory of tensors: allocated by a host function, handed to a kernel by a launch, stored into by the kernel."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

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


def uninitialised(reading: CudaReading, function: Function) -> list[Variable]:
    """Return variables whose initial value is one call that allocates and does not fill."""
    found = _uninitialised(reading)
    first, last = (
        bisect_left(found, at, key=lambda variable: variable.node.start_byte)
        for at in (function.body_start + 1, function.end)
    )
    return found[first:last]


def is_uninitialised(reading: CudaReading, variable: Variable) -> bool:
    """Return whether the initial value of a variable is one call that allocates and does not fill."""
    found = _uninitialised(reading)
    at = bisect_left(found, variable.node.start_byte, key=lambda each: each.node.start_byte)
    return any(each is variable for each in found[at : at + 8])  # several may share one declaration


@lru_cache(maxsize=1)
def _uninitialised(reading: CudaReading) -> list[Variable]:
    starts = {call.node.start_byte: call for call in reading.calls if call.name in _EMPTY}
    found = []
    for variable in reading.variables:
        value = variable.value
        if value is not None and value.type == "argument_list" and value.named_child_count == 1:
            value = value.named_children[0]
        call = starts.get(value.start_byte) if value is not None else None
        if call is not None and value is not None and call.node.end_byte == value.end_byte:
            found.append(variable)
    return found


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


@dataclass(frozen=True)
class Stores:
    """Stores of a kernel through one parameter: plain ones (`p[i] = x`), and those that add to the value there.

    Args:
        plain: offsets of stores that set a value.
        adding: offsets of stores that need the value before: `+=` and atomics.
    """

    plain: tuple[int, ...]
    adding: tuple[int, ...]


@lru_cache(maxsize=1024)
def stored_parameters(reading: CudaReading, kernel_name: str) -> dict[int, Stores]:
    """Return position of each pointer parameter that the kernel itself stores through, and how."""
    kernel = reading.kernel(kernel_name)
    if kernel is None:
        return {}
    plain, adding = _stores(reading, kernel)
    found = {}
    for position, parameter in enumerate(kernel.parameters):
        stored = parameter.name in plain or parameter.name in adding
        if stored and parameter.is_pointer and not parameter.text.startswith("const "):
            found[position] = Stores(tuple(plain.get(parameter.name, ())), tuple(adding.get(parameter.name, ())))
    return found


def _stores(reading: CudaReading, kernel: Function) -> tuple[dict[str | None, list[int]], dict[str | None, list[int]]]:
    """Return offsets of the plain stores of a kernel, and of those that add, by the name they go through."""
    plain: dict[str | None, list[int]] = {}
    adding: dict[str | None, list[int]] = {}
    for node in reading.inside(kernel, "assignment_expression"):
        left = node.child_by_field_name("left")
        if left is not None:
            how = plain if node.children[1].type == "=" else adding
            how.setdefault(_base(reading, left), []).append(node.start_byte)
    for node in reading.inside(kernel, "update_expression"):
        if (target := node.child_by_field_name("argument")) is not None:
            adding.setdefault(_base(reading, target), []).append(node.start_byte)
    for call in reading.calls_in(kernel):
        if call.name.startswith("atomic") and call.arguments:
            first = call.arguments[0]
            inner = first.child_by_field_name("argument") if first.type == "pointer_expression" else first
            for name in () if inner is None else {_base(reading, inner), reading.text(inner).split("+")[0].strip()}:
                (plain if call.name in _SETTING else adding).setdefault(name, []).append(call.node.start_byte)
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
