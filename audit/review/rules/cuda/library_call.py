"""Does an operator of a library compute part of the result?

Silent on allocation, copies, views and random numbers, on calls that only an empty tensor reaches, and on device code.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from audit.review.cuda_reading import Call, CudaReading
from audit.review.operators import OPERATORS
from audit.review.rule import Rule, Spot

_TENSOR_SCOPES = frozenset(
    ["at", "torch", "at::native", "at::_ops", "torch::nn::functional", "torch::nn", "torch::linalg"]
)
_VENDOR = re.compile(
    r"cublas(?:Lt)?\w*(?:gemm|Gemm|gemv|ger|symm|syrk|trmm|trsm|trsv|dot|axpy|nrm2|scal|asum|Matmul)\w*"
    r"|cudnn\w*(?:Forward|Inference|Execute|execute|OpTensor|AddTensor|ReduceTensor)\w*"
    r"|cusparse\w*(?:SpMM|SpMV|SDDMM|SpGEMM|mm|mv)\w*|cufftExec\w*|cusolver\w+"
)
_TEMPLATES = {
    "cub": r"Device\w+(?:::\w+)?",
    "thrust": r"reduce\w*|transform\w*|sort\w*|\w*scan\w*|inner_product|copy_if",
}


_LONGEST = 200  # characters of a condition that asks for an empty tensor


def find(reading: CudaReading) -> list[Spot]:
    """Calls of host functions that do arithmetic elsewhere."""
    found = []
    for call in reading.calls:
        name = _library(call)
        if name and reading.in_host(call.node) and not _for_empty_tensors(reading, call.node):
            found.append(Spot(call.line, f"{name} computes part of the result in a library"))
    return found


def _library(call: Call) -> str | None:
    """Return the name of the library operator, or None."""
    if _VENDOR.fullmatch(call.name):
        return call.name
    if call.receiver is not None:
        return f".{call.name}()" if call.name.removesuffix("_") in OPERATORS else None
    top = call.scope.split("::")[0]
    full = f"{call.scope}::{call.name}"
    if call.scope.removesuffix("::call").startswith("at::_ops") or call.scope in _TENSOR_SCOPES:
        plain = call.name.removesuffix("_out").removesuffix("_")
        return full if plain in OPERATORS or call.scope.startswith("at::_ops") else None
    pattern = _TEMPLATES.get(top)
    return full if pattern and re.fullmatch(pattern, full.split("::", 1)[1]) else None


def _for_empty_tensors(reading: CudaReading, node: Node) -> bool:
    """Return whether the call stands behind `if (size == 0)`."""
    for holder in reading.ancestors(node):
        condition = holder.child_by_field_name("condition") if holder.type == "if_statement" else None
        if condition is None or condition.end_byte - condition.start_byte > _LONGEST:
            continue
        if re.fullmatch(r"\(?[\w.()\s]*==0\)?", reading.text(condition).replace(" ", "")):
            return True
    return False


RULE = Rule("library_call", __doc__, "kernels_ran", find)
