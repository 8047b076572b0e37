"""Whole numbers that an expression of a source stands for, where constants alone decide it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

_MOST_DIGITS = 64
Operations = Mapping[type[ast.operator], Callable[[int, int], int | None]]


def computed(node: ast.expr, names: Mapping[str, int], operations: Operations, *, largest: int) -> int | None:
    """Return the integer that an expression of integers, names and operations is worth.

    None where it holds anything else, or an operand larger than `largest`.
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        return names.get(node.id)
    apply = operations.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if apply is None or not isinstance(node, ast.BinOp):
        return None
    left = computed(node.left, names, operations, largest=largest)
    right = computed(node.right, names, operations, largest=largest)
    if left is None or right is None or max(abs(left), abs(right)) > largest:
        return None
    return apply(left, right)


def whole_number(literal: str) -> int | None:
    """Return the value of a C++ literal without its suffix: 0x is hexadecimal, a leading 0 octal.

    None for `089`, and for more digits than any type of C++ holds.
    """
    if len(literal) > _MOST_DIGITS:
        return None
    if literal[:2] in ("0x", "0X"):
        return int(literal, 16)
    if not literal.startswith("0"):
        return int(literal)
    return int(literal, 8) if not set(literal) & {"8", "9"} else None
