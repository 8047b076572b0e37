"""Is the number of Triton programs rounded down, so that a rest of the problem has none?

Silent where the quotient is rounded up in any way, and where the file compares a remainder.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot


def find(reading: PythonReading) -> list[Spot]:
    """`kernel[(n // BLOCK,)](...)`, where the quotient is of a plain size."""
    if any(isinstance(node.op, ast.Mod) for node in reading.nodes(ast.BinOp)):
        return []
    spots = []
    for call in reading.nodes(ast.Call):
        if not isinstance(call.func, ast.Subscript):
            continue
        for node in ast.walk(_grid(reading, call.func.slice)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and _plain(node.left):
                text = f"{ast.unparse(node)[:60]} programs leave out what the division does not come out even with"
                spots.append(Spot(node.lineno, text))
    return spots


def _grid(reading: PythonReading, grid: ast.expr) -> ast.expr:
    """Return the grid, or the value that its name was given once."""
    if not isinstance(grid, ast.Name):
        return grid
    given = _given(reading).get(grid.id, [])
    return given[0] if len(given) == 1 else grid


@lru_cache(maxsize=1)
def _given(reading: PythonReading) -> dict[str, list[ast.expr]]:
    """Return the values that assignments give to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in reading.nodes(ast.Assign):
        for name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
            found.setdefault(name, []).append(node.value)
    return found


def _plain(left: ast.expr) -> bool:
    """Return a size: a name, an element of a shape, or a call such as `x.numel()`; not a sum or a negated value."""
    return isinstance(left, ast.Name | ast.Subscript | ast.Call | ast.Attribute)


RULE = Rule("triton_grid", __doc__, "coverage", find)
