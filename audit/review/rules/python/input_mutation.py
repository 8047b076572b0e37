"""Is a tensor that the caller passed in changed?

Silent where that tensor is returned, since the result is then in place by contract, and where the name was bound anew.
"""

from __future__ import annotations

import ast

from audit.review.operators import operator_name
from audit.review.python_reading import FunctionNode, PythonReading, names_in
from audit.review.rule import Rule, Spot

_IN_PLACE = frozenset({"zero_", "fill_", "copy_", "random_", "normal_", "uniform_", "resize_", "set_", "index_put_"})


def find(reading: PythonReading) -> list[Spot]:
    """In-place operators, assignments to elements and augmented assignments on inputs of `forward`."""
    return [spot for entry in reading.entries for spot in _of_entry(reading, entry)]


def _of_entry(reading: PythonReading, entry: FunctionNode) -> list[Spot]:
    nodes = list(ast.walk(entry))
    bound = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    stepped = {
        each.target.id for each in nodes if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)
    }
    returned = {name for each in nodes if isinstance(each, ast.Return) and each.value for name in names_in(each.value)}
    inputs = set(reading.parameters(entry)) - (bound - stepped) - returned
    return [
        Spot(line, f"{name}, which the caller passed in, is changed") for line, name in _changed(reading, nodes, inputs)
    ]


def _changed(reading: PythonReading, nodes: list[ast.AST], inputs: set[str]) -> list[tuple[int, str]]:
    found = []
    for node in nodes:
        target: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            known = node.func.attr in _IN_PLACE or operator_name(reading, node) is not None
            target = node.func.value if known else None
        elif isinstance(node, ast.AugAssign):
            target = node.target
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            target = node.value
        root = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(root, ast.Name) and root.id in inputs:
            found.append((root.lineno, root.id))
    return found


RULE = Rule("input_mutation", __doc__, "inputs_intact", find)
