"""Axes of a definition: numbers, sizes that a workload gives, and arithmetic of others; checked, and never run here."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from audit.claims.importers.entries import plain_name, variable
from audit.model.errors import BadInput

MOST_SIZE = 1 << 40
MOST_EXPONENT = 16
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: base**exponent if 0 <= exponent <= MOST_EXPONENT else 0,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


def read(axes: Any, at: str) -> tuple[tuple[str, str], ...]:
    """Every axis with its expression in our names, empty for one that a workload gives, after those it is made of.

    Raises:
        BadInput: a name or an expression that is none, or an axis made of itself.
    """
    if not isinstance(axes, dict):
        raise BadInput(f"{at}: axes: no JSON object but {type(axes).__name__}")
    waiting = {name: _expression(name, stated, f"{at}: axis {str(name)[:40]}") for name, stated in axes.items()}
    found: dict[str, str] = {}
    while waiting:
        ready = [name for name, (_, needs) in waiting.items() if needs <= set(found)]
        if not ready:
            raise BadInput(f"{at}: axis {next(iter(waiting))}: made of an axis that is not there, or of itself")
        found |= {name: waiting.pop(name)[0] for name in ready}
    return tuple(found.items())


def _expression(name: Any, stated: Any, where: str) -> tuple[str, set[str]]:
    """An axis in our names, and the axes it is made of."""
    kind = stated.get("type") if isinstance(stated, dict) else None
    if not plain_name(name) or kind not in ("const", "var", "expr"):
        raise BadInput(f"{where}: an axis has a plain name and the type const, var or expr")
    if kind == "var":
        return "", set()
    if kind == "const":
        value = stated.get("value")
        if type(value) is not int or not 0 < value < MOST_SIZE:
            raise BadInput(f"{where}: value {str(value)[:20]} is no positive integer")
        return str(value), set()
    try:
        tree = ast.parse(str(stated.get("expression")), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{where}: expression cannot be read") from error
    return _checked(tree, where)


def _checked(tree: ast.Expression, where: str) -> tuple[str, set[str]]:
    """Numbers, axes and arithmetic only; each axis under our name for it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
            node.id = variable(node.id)
        elif isinstance(node, ast.Constant) and type(node.value) is not int:
            raise BadInput(f"{where}: expression holds something that is no integer")
        elif not isinstance(
            node, (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.expr_context, *_BINARY, *_UNARY)
        ):
            raise BadInput(f"{where}: expression holds {type(node).__name__}; known: + - * / // % ** and brackets")
    return f"int({ast.unparse(tree)})", names


def evaluated(expression: str, known: Mapping[str, int]) -> int | None:
    """What an expression that `read` gave is worth; None where that is no size."""
    try:
        value = _worth(ast.parse(expression, mode="eval").body, known)
    except (ZeroDivisionError, OverflowError, LookupError, RecursionError):
        return None
    return int(value) if 0 < value < MOST_SIZE else None


def _worth(node: Any, known: Mapping[str, int]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Call):  # of int, which `read` puts around every expression
        return int(_worth(node.args[0], known))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_worth(node.operand, known))
    return _BINARY[type(node.op)](_worth(node.left, known), _worth(node.right, known))
