"""Is there an input that nothing reads: a kernel's pointer, or a tensor of which only sizes and types are asked?

Silent on parameters without a name, on tensors handed to any function, and beside syntax errors.
"""

from __future__ import annotations

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading, tensor_parameters
from audit.review.cuda_source import Function
from audit.review.rule import Rule, Spot, names

_METADATA = names("""
    size sizes numel nbytes dim ndimension stride strides options device get_device dtype scalar_type type layout
    is_cuda is_contiguous is_floating_point element_size itemsize defined has_value is_sparse requires_grad
""")
_SHAPE_ONLY = frozenset(
    ["empty_like", "zeros_like", "ones_like", "full_like", "device_of", "CUDAGuard", "OptionalCUDAGuard"]
)


def find(reading: CudaReading) -> list[Spot]:
    """Parameters that are declared and not read."""
    if reading.source.error_count:
        return []
    spots = []
    for kernel in reading.kernels:
        names = [each.name for each in kernel.parameters if each.name and each.is_pointer]
        spots += [_spot(kernel, name) for name in names if not reading.mentioned(name, kernel)]
    for entry in reading.entries:
        spots += [_spot(entry, name) for name in tensor_parameters(entry) if not _is_read(reading, entry, name)]
    return spots


def _spot(function: Function, name: str) -> Spot:
    what = "kernel" if function.kind == "kernel" else "function"
    return Spot(function.line, f"{what} {function.name} takes {name} and never reads its values")


def _is_read(reading: CudaReading, entry: Function, name: str) -> bool:
    return any(not _is_metadata(reading, node) for node in reading.mentioned(name, entry))


def _is_metadata(reading: CudaReading, mention: Node) -> bool:
    """Return whether a mention asks for sizes and types, stands in a check, or only shapes another tensor."""
    for node in reading.ancestors(mention, until=("function_definition", "compound_statement", "lambda_expression")):
        if node.type == "field_expression":
            field = node.child_by_field_name("field")
            if field is not None and reading.text(field) in _METADATA:
                return True
        elif node.type == "cast_expression" and reading.text(node).replace(" ", "").startswith("(void)"):
            return True
        elif node.type == "call_expression" and (called := node.child_by_field_name("function")):
            name = reading.text(called).split("::")[-1]
            if "CHECK" in name or "ASSERT" in name or name in _SHAPE_ONLY:
                return True
        elif node.type == "init_declarator" or node.type.endswith("_statement"):
            return False
    return False


RULE = Rule("unread_input", __doc__, "dead_inputs", find)
