"""Numbers that names and expressions of a CUDA source stand for, where macros and constants alone decide it."""

from __future__ import annotations

import ast
import operator as arithmetic
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_tree import operator, sides
from audit.review.places import grouped
from audit.review.python_constants import Operations, computed
from audit.review.token_scan import whole_number

_LITERAL = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_PLAIN = re.compile(r"[\w\s()+*/-]{1,80}")
_DEPTH = 6
_LARGEST = 1 << 64
_OPERATIONS: Operations = {
    ast.Add: arithmetic.add,
    ast.Sub: arithmetic.sub,
    ast.Mult: arithmetic.mul,
    ast.Div: lambda one, other: one // other if other else None,
}
_WORDS = {"false": 0, "true": 1}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": arithmetic.eq,
    "!=": arithmetic.ne,
    "<": arithmetic.lt,
    "<=": arithmetic.le,
    ">": arithmetic.gt,
    ">=": arithmetic.ge,
}


class Constants:
    """The constants of one source. A name that is defined twice, or as anything but a number, has no value."""

    def __init__(self, reading: CudaReading) -> None:
        self._reading = reading
        self._known: dict[tuple[str, int], int | None] = {}

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        return grouped(_defined(self._reading))

    def value(self, expression: str, depth: int = 0) -> int | None:
        """Return the number an expression of sums, products and constants stands for; None where it is not plain."""
        key = (expression.strip(), depth)
        if key not in self._known:
            self._known[key] = self._value(*key)
        return self._known[key]

    def truth(self, node: Node) -> bool | None:
        """Return whether a number, or a comparison of two, is true; None where constants do not decide it."""
        if (compare := _COMPARISONS.get(operator(node))) is None:
            value = self.value(self._reading.text(node))
            return None if value is None else bool(value)
        for _, left, right in sides([node]):
            one, other = self.value(self._reading.text(left)), self.value(self._reading.text(right))
            return None if one is None or other is None else compare(one, other)
        return None

    def _value(self, text: str, depth: int) -> int | None:
        if literal := _LITERAL.fullmatch(text):
            return whole_number(literal[1])
        if text in _WORDS:
            return _WORDS[text]
        if depth > _DEPTH or not _PLAIN.fullmatch(text):
            return None
        if text.isidentifier():
            texts = self._texts.get(text, [])
            return self.value(texts[0], depth + 1) if len(texts) == 1 else None
        return self._computed(text, depth)

    def _computed(self, text: str, depth: int) -> int | None:
        values = {name: self.value(name, depth + 1) for name in re.findall(r"\b[A-Za-z_]\w*", text)}
        names = {name: value for name, value in values.items() if value is not None}
        try:
            return computed(ast.parse(text, mode="eval").body, names, _OPERATIONS, largest=_LARGEST)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _defined(reading: CudaReading) -> Iterator[tuple[str, str]]:
    """Yield every name that the source defines, and the text of its value; a question mark where it is no constant."""
    for macro in reading.source.macros:
        yield macro.name, "?" if macro.parameters else reading.source.code[macro.body_start : macro.end].strip()
    for variable in reading.variables:
        fixed = variable.value is not None and re.search(r"\bconst(?:expr)?\b", variable.declared)
        yield variable.name, reading.text(variable.value) if fixed and variable.value is not None else "?"
    for function in reading.source.functions:
        yield from ((parameter.name, "?") for parameter in function.parameters)


@lru_cache(maxsize=1)
def constants_of(reading: CudaReading) -> Constants:
    """Return the constants of one source, worked out once."""
    return Constants(reading)
