"""What a kernel does to the memory behind its pointer parameters."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function

_SETTING = frozenset({"atomicExch", "atomicCAS"})


@dataclass(frozen=True)
class Stores:
    """How a kernel changes what a parameter points at: plainly (`p[i] = x`), or by adding to it.

    Args:
        plain: offsets of stores that set a value.
        adding: offsets of stores that need the value before: `+=` and atomics.
    """

    plain: tuple[int, ...]
    adding: tuple[int, ...]


def kernel_of(reading: CudaReading, name: str) -> Function | None:
    """The kernel of a name, or None where there are none or several."""
    found = [kernel for kernel in reading.kernels if kernel.name == name]
    return found[0] if len(found) == 1 else None


def stored_parameters(reading: CudaReading, kernel_name: str) -> dict[int, Stores]:
    """Position of each pointer parameter that the kernel itself stores through, and how."""
    kernel = kernel_of(reading, kernel_name)
    if kernel is None:
        return {}
    found = {}
    for position, parameter in enumerate(kernel.parameters):
        if parameter.is_pointer and not parameter.text.startswith("const "):
            stores = _stores(reading, kernel, parameter.name)
            if stores.plain or stores.adding:
                found[position] = stores
    return found


def _stores(reading: CudaReading, kernel: Function, name: str) -> Stores:
    plain: list[int] = []
    adding: list[int] = []
    for node in reading.inside(kernel, "assignment_expression"):
        left = node.child_by_field_name("left")
        if left is not None and _base(reading, left) == name:
            (plain if node.children[1].type == "=" else adding).append(node.start_byte)
    for node in reading.inside(kernel, "update_expression"):
        target = node.child_by_field_name("argument")
        if target is not None and _base(reading, target) == name:
            adding.append(node.start_byte)
    for call in reading.calls:
        inside = kernel.body_start < call.node.start_byte < kernel.end
        if inside and call.name.startswith("atomic") and call.arguments:
            first = call.arguments[0]
            inner = first.child_by_field_name("argument") if first.type == "pointer_expression" else first
            if inner is not None and name in (_base(reading, inner), reading.text(inner).split("+")[0].strip()):
                (plain if call.name in _SETTING else adding).append(call.node.start_byte)
    return Stores(tuple(plain), tuple(adding))


def _base(reading: CudaReading, place: Node) -> str | None:
    """The pointer's name in `p[i]`, `*p`, `*(p + i)`; None for a plain variable."""
    if place.type == "subscript_expression":
        base = place.child_by_field_name("argument")
        return reading.text(base) if base is not None and base.type == "identifier" else None
    if place.type == "pointer_expression":
        inner = place.child_by_field_name("argument")
        return reading.text(inner).strip("( ").split("+")[0].strip() if inner is not None else None
    return None
