"""Which calls of a Python source are tensor operators of the library."""

from __future__ import annotations

import ast

from audit.review.library_names import OPERATORS
from audit.review.python_reading import PythonReading

_HOMES = frozenset(["torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.ops.aten", "torch._C._nn"])
_METHODS = OPERATORS - frozenset(["add", "sub", "sort", "where", "sum", "dot", "fold", "topk", "pow"])
"""Method names that only tensors have; the others belong to sets, lists and frames as well."""


def operator_name(reading: PythonReading, call: ast.Call) -> str | None:
    """The operator a call computes with, as the file writes it; None if it is something else."""
    name = reading.name(call)
    home, _, last = name.rpartition(".")
    if home in _HOMES or home.startswith("torch.ops.aten."):
        return name if last.removesuffix("_") in OPERATORS else None
    if not isinstance(call.func, ast.Attribute) or home.split(".")[0] in reading.modules:
        return None
    method = call.func.attr
    return f".{method}()" if method.removesuffix("_") in _METHODS and home != "self" else None


def is_operator(reading: PythonReading, call: ast.Call) -> bool:
    """Whether a call is a tensor operator of the library."""
    return operator_name(reading, call) is not None
