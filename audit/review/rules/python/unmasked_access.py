"""Does a Triton kernel access a range of elements that nothing cuts off at the end?

Silent in kernels that mask anything, use block pointers or descriptors, or loop, and where a remainder is compared.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_ACCESS = frozenset({"triton.language.load", "triton.language.store"})
_PLACE = frozenset({"triton.language.program_id", "triton.language.arange"})


def find(reading: PythonReading) -> list[Spot]:
    """Return the first access of each kernel that has a place and a range and no mask."""
    if any(isinstance(node.op, ast.Mod) for node in reading.nodes(ast.BinOp)):
        return []
    kernels = [node for node in reading.nodes(ast.FunctionDef) if node not in reading.functions]
    return [spot for kernel in kernels for spot in _of_kernel(reading, kernel)]


def _of_kernel(reading: PythonReading, kernel: ast.FunctionDef) -> list[Spot]:
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    names = {reading.name(call) for call in calls}
    accesses = [call for call in calls if reading.name(call) in _ACCESS]
    masked = any(each.arg in ("mask", "boundary_check") for call in accesses for each in call.keywords)
    by_position = any(len(call.args) > 1 + reading.name(call).endswith("store") for call in accesses)
    loops = any(isinstance(node, ast.For | ast.While) for node in ast.walk(kernel))
    blocks = any("make_" in name for name in names)
    if masked or by_position or loops or blocks or not names >= _PLACE or not accesses:
        return []
    text = f"kernel {kernel.name} accesses a range here and masks nothing past the end"
    return [Spot(accesses[0].lineno, text)]


RULE = Rule("unmasked_access", __doc__, "memory_access", find)
