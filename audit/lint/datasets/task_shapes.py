"""The shapes of a task's random inputs, read from the text of its `get_inputs`; nothing is run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from math import prod

from audit.review.arithmetic import Operations, computed

Shape = tuple[int, ...]
Value = int | Shape
RANDOM = ("rand", "randn")
LARGEST = 1 << 40
_OPERATIONS: Operations = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // other if other else None,
}


def inputs_of(tree: ast.Module) -> tuple[Shape, ...] | None:
    """One shape an input; None unless every input is random float32 of a shape the text fixes."""
    function = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "get_inputs"), None)
    if function is None:
        return None
    known = _constants(tree.body, {})
    tensors: dict[str, Shape] = {}
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            shape = _random(statement.value, known)
            if shape is None:
                known = _constants([statement], known)
            else:
                tensors[statement.targets[0].id] = shape
        elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.List | ast.Tuple):
            return _all(statement.value.elts, tensors, known)
    return None


def _all(told: list[ast.expr], tensors: Mapping[str, Shape], known: Mapping[str, Value]) -> tuple[Shape, ...] | None:
    shapes = [tensors.get(one.id) if isinstance(one, ast.Name) else _random(one, known) for one in told]
    found = tuple(shape for shape in shapes if shape is not None)
    return found if len(found) == len(told) else None


def _random(told: ast.expr, known: Mapping[str, Value]) -> Shape | None:
    """The shape of `torch.rand(...)` or `torch.randn(...)`, also with `.cuda()` behind it; float32 by default only."""
    if not isinstance(told, ast.Call) or not isinstance(told.func, ast.Attribute):
        return None
    if told.func.attr == "cuda" and not told.args:
        return _random(told.func.value, known)
    torch = isinstance(told.func.value, ast.Name) and told.func.value.id == "torch"
    if not torch or told.func.attr not in RANDOM or any(one.arg not in ("device", None) for one in told.keywords):
        return None
    sizes: list[int] = []
    for argument in told.args:
        value = _value(argument.value if isinstance(argument, ast.Starred) else argument, known)
        if value is None:
            return None
        sizes += value if isinstance(value, tuple) else (value,)
    return tuple(sizes) if sizes and min(sizes) > 0 and prod(sizes) < LARGEST else None


def _constants(statements: list[ast.stmt], known: Mapping[str, Value]) -> dict[str, Value]:
    """Names that are given an integer or a tuple of integers."""
    found = dict(known)
    for one in statements:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            value = _value(one.value, found)
            if value is None:
                found.pop(one.targets[0].id, None)
            else:
                found[one.targets[0].id] = value
    return found


def _value(told: ast.expr, known: Mapping[str, Value]) -> Value | None:
    if isinstance(told, ast.Tuple | ast.List):
        parts = [_value(one, known) for one in told.elts]
        whole = tuple(part for part in parts if isinstance(part, int))
        return whole if len(whole) == len(parts) else None
    if isinstance(told, ast.Name):
        return known.get(told.id)
    numbers = {name: value for name, value in known.items() if isinstance(value, int)}
    value = computed(told, numbers, _OPERATIONS, largest=LARGEST)
    return value if isinstance(told, ast.Constant) or value is None or abs(value) < LARGEST else None
