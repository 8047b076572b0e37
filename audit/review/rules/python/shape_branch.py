"""Does one size decide which code runs?

Silent on assertions and on branches that refuse, on small numbers, and on comparisons for order.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading, raises
from audit.review.rule import Rule, Spot

_SIZES = frozenset({"shape", "size", "numel"})
_SMALLEST = 8  # smaller numbers are dimensions and vector widths


def find(reading: PythonReading) -> list[Spot]:
    """Equality of a size and a number in the test of a branch."""
    spots = []
    for node in reading.branches():
        if isinstance(node, ast.If) and raises(node.body):
            continue
        for compare in (each for each in ast.walk(node.test) if isinstance(each, ast.Compare)):
            sides = [compare.left, *compare.comparators]
            equal = any(isinstance(op, ast.Eq | ast.In) for op in compare.ops)
            if equal and any(_is_size(side) for side in sides) and any(_is_number(side) for side in sides):
                spots.append(Spot(compare.lineno, f"{ast.unparse(compare)[:80]} chooses what runs by one size"))
    return spots


def _is_size(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in _SIZES for each in ast.walk(node))


def _is_number(node: ast.expr) -> bool:
    if _is_size(node):
        return False
    numbers = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, int)]
    return any(number >= _SMALLEST for number in numbers)


RULE = Rule("shape_branch", __doc__, "agreement", find)
