"""Does a number that counts calls decide what a call does?

Silent on counters that are only counted or printed, on remainders of a count, and on loop variables.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_COUNTERS = (ast.Name, ast.Attribute, ast.Subscript)
_OUTER = (ast.Global, ast.Nonlocal)


def find(reading: PythonReading) -> list[Spot]:
    """Tests on an attribute, a global name or an entry of a table that calls step by a number."""
    counters = _counters(reading)
    spots = []
    for node in reading.branches():
        asked = sorted({ast.unparse(each) for each in ast.walk(node.test) if isinstance(each, _COUNTERS)} & counters)
        if asked and not any(isinstance(each, ast.Mod) for each in ast.walk(node.test)) and _matters(node):
            spots.append(Spot(node.lineno, f"{asked[0]} counts calls and decides what a call does"))
    return spots


def _counters(reading: PythonReading) -> set[str]:
    found = set()
    for node in reading.nodes(ast.AugAssign):
        function = reading.function(node)
        if function is None or not isinstance(node.op, ast.Add) or not isinstance(node.value, ast.Constant):
            continue
        looped = any(isinstance(each, ast.For | ast.While) for each in reading.ancestors(node))
        if not looped and (not isinstance(node.target, ast.Name) or node.target.id in _shared(function)):
            found.add(ast.unparse(node.target))
    return found


@lru_cache(maxsize=64)
def _shared(function: ast.AST) -> frozenset[str]:
    """Return the names that a function shares with what is around it."""
    return frozenset(name for each in ast.walk(function) if isinstance(each, _OUTER) for name in each.names)


def _matters(node: ast.If | ast.IfExp | ast.While) -> bool:
    """Return whether a branch does more than count or print."""
    if isinstance(node, ast.IfExp) or node.orelse:
        return True
    return not all(isinstance(each, ast.AugAssign | ast.Expr | ast.Pass) for each in node.body)


RULE = Rule("call_count", __doc__, "repeat", find)
