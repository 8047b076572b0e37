"""Does an `except` let the library do what the kernel could not?

Silent on handlers that raise again or return a constant, on missing keys and on missing modules.
"""

from __future__ import annotations

import ast

from audit.review.operators import operator_name
from audit.review.python_reading import PythonReading, raises
from audit.review.rule import Rule, Spot

_EXPECTED = frozenset({"KeyError", "IndexError", "StopIteration", "ImportError", "ModuleNotFoundError"})


def find(reading: PythonReading) -> list[Spot]:
    """Handlers that compute, or that silently go on."""
    spots = []
    for handler in reading.nodes(ast.ExceptHandler):
        holder = next(reading.ancestors(handler), None)
        if (
            not isinstance(holder, ast.Try)
            or not _catches_failures(reading, handler)
            or not _computes(reading, holder.body)
        ):
            continue
        if raises(handler.body):
            continue
        if _computes(reading, handler.body) or _returns(handler.body):
            text = "whatever fails above is caught here, and something else computes the result"
            spots.append(Spot(handler.lineno, text))
        elif reading.function(handler) is not None and all(isinstance(each, ast.Pass) for each in handler.body):
            spots.append(Spot(handler.lineno, "whatever fails above is caught here and passed over"))
    return spots


def _catches_failures(reading: PythonReading, handler: ast.ExceptHandler) -> bool:
    """Return whether it catches more than what a look-up or an import is expected to raise."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or reading.name(kind) not in _EXPECTED for kind in kinds)


def _computes(reading: PythonReading, body: list[ast.stmt]) -> bool:
    """Return whether statements call an operator, or return what a call gives."""
    calls = [node for each in body for node in ast.walk(each) if isinstance(node, ast.Call)]
    operator = any(isinstance(node, ast.MatMult) for each in body for node in ast.walk(each))
    return operator or any(operator_name(reading, call) for call in calls) or (_returns(body) and bool(calls))


def _returns(body: list[ast.stmt]) -> bool:
    """Return whether statements return something other than a constant."""
    returns = (node for each in body for node in ast.walk(each) if isinstance(node, ast.Return))
    return any(node.value is not None and not isinstance(node.value, ast.Constant) for node in returns)


RULE = Rule("fallback", __doc__, "kernels_ran", find)
