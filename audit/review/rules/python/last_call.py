"""Is the result of the call before returned when the input is recognised?

Silent on comparisons with None and with things made in the same call.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading, names_in
from audit.review.rule import Rule, Spot


def find(reading: PythonReading) -> list[Spot]:
    """`if x is kept: return kept_result`, and the same by `data_ptr()` or `torch.equal`."""
    spots = []
    for entry in reading.functions:
        parameters = set(reading.parameters(entry))
        for node in ast.walk(entry):
            if (
                isinstance(node, ast.If)
                and _recognises(reading, node.test, parameters)
                and _returns_kept(node.body, entry)
            ):
                spots.append(Spot(node.lineno, "an input is recognised and what an earlier call kept is returned"))
    return spots


def _recognises(reading: PythonReading, test: ast.expr, parameters: set[str]) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [node.left, node.comparators[0]]
            same = isinstance(node.ops[0], ast.Is) or _is_address(sides[0]) or _is_address(sides[1])
            given = [bool(names_in(side) & parameters) for side in sides]
            constant = any(isinstance(side, ast.Constant) for side in sides)
            if same and any(given) and not all(given) and not constant:
                return True
        if isinstance(node, ast.Call) and reading.name(node) in ("torch.equal", "torch.allclose"):
            return bool(names_in(node) & parameters)
    return False


def _is_address(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "data_ptr" for each in ast.walk(node))


def _returns_kept(body: list[ast.stmt], entry: ast.AST) -> bool:
    """Return a return of an attribute, or of a name that the function does not make itself."""
    own = {each.id for each in ast.walk(entry) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in body:
        value = each.value if isinstance(each, ast.Return) else None
        if isinstance(value, ast.Attribute) or (isinstance(value, ast.Name) and value.id not in own):
            return True
    return False


RULE = Rule("last_call", __doc__, "fresh_values", find)
