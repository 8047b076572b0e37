"""Is the result just allocated memory, or an input handed back?

Silent where anything is computed into it on the way.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import FunctionNode, PythonReading
from audit.review.rule import Rule, Spot

_ALLOCATE = frozenset(f"torch.{name}{like}" for name in ("empty", "zeros", "ones", "full") for like in ("", "_like"))


def find(reading: PythonReading) -> list[Spot]:
    """Returns of a plain allocation, and functions whose every return is an untouched input."""
    spots = []
    for entry in reading.entries:
        returns = [node for node in ast.walk(entry) if isinstance(node, ast.Return) and node.value is not None]
        for node in returns:
            if isinstance(node.value, ast.Call) and reading.name(node.value) in _ALLOCATE:
                spots.append(Spot(node.lineno, f"{reading.name(node.value)} is returned as allocated"))
        if returns and _only_inputs(reading, entry, returns):
            spots.append(Spot(returns[0].lineno, "an input is returned as it came"))
    return spots


def _only_inputs(reading: PythonReading, entry: FunctionNode, returns: list[ast.Return]) -> bool:
    names = set(reading.parameters(entry))
    plain = all(isinstance(node.value, ast.Name) and node.value.id in names for node in returns)
    return plain and not any(isinstance(node, ast.Call | ast.Assign | ast.AugAssign) for node in ast.walk(entry))


RULE = Rule("fresh_result", __doc__, "dead_inputs", find)
