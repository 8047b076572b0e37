"""Whole numbers that a CUDA source gives in plain text: literals, macros without parameters, constants."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from functools import cached_property

from audit.review.cuda_reading import CudaReading

_LITERAL = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_PLAIN = re.compile(r"[\w\s()+*/-]{1,80}")
_DEPTH = 6
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def whole_number(literal: str) -> int | None:
    """The value of a C++ literal without its suffix: 0x is hexadecimal, a leading 0 octal; None for `089`."""
    if literal[:2] in ("0x", "0X"):
        return int(literal, 16)
    if not literal.startswith("0"):
        return int(literal)
    return int(literal, 8) if not set(literal) & {"8", "9"} else None


class Constants:
    """The constants of one source. A name that is defined twice, or as anything but a number, has no value."""

    def __init__(self, reading: CudaReading) -> None:
        self._reading = reading

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        reading = self._reading
        found: dict[str, list[str]] = {}
        for macro in reading.source.macros:
            body = reading.source.code[macro.body_start : macro.end].strip()
            found.setdefault(macro.name, []).append("?" if macro.parameters else body)
        for variable in reading.variables:
            fixed = re.search(r"\bconst(?:expr)?\b", variable.declared) and variable.value is not None
            text = reading.text(variable.value) if fixed and variable.value is not None else "?"
            found.setdefault(variable.name, []).append(text)
        for function in reading.source.functions:
            for parameter in function.parameters:
                found.setdefault(parameter.name, []).append("?")
        return found

    def value(self, expression: str, depth: int = 0) -> int | None:
        """The number an expression of sums, products and constants stands for; None where it is not plain."""
        text = expression.strip()
        if literal := _LITERAL.fullmatch(text):
            return whole_number(literal[1])
        if depth > _DEPTH or not _PLAIN.fullmatch(text):
            return None
        if text.isidentifier():
            texts = self._texts.get(text, [])
            return self.value(texts[0], depth + 1) if len(texts) == 1 else None
        return self._computed(text, depth)

    def _computed(self, text: str, depth: int) -> int | None:
        names = {name: self.value(name, depth + 1) for name in re.findall(r"\b[A-Za-z_]\w*", text)}
        if any(number is None for number in names.values()):
            return None
        plain = re.sub(r"\b[A-Za-z_]\w*", lambda match: str(names[match[0]]), text)
        try:
            return _number(ast.parse(plain.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _number(node: ast.expr) -> int | None:
    if not isinstance(node, ast.BinOp):
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Div):
        return left // right if right else None
    apply = _OPERATIONS.get(type(node.op))
    return apply(left, right) if apply else None
