"""Values in a CUDA source: numbers that macros and constants decide, and what differs between the threads of a block.

A rule that asks about the threads of a warp or of a block may count a value that is loaded, returned by a call, or
divided as the same for all of them: what a rule does not know it keeps quiet about.
"""

from __future__ import annotations

import ast
import operator as arithmetic
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.python_constants import INTEGERS, computed
from audit.review.rule import grouped
from audit.review.token_scan import whole_number

_LITERAL = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_PLAIN = re.compile(r"[\w\s()+*/-]{1,80}")
_DEPTH = 6
_LARGEST = 1 << 64
_OPERATIONS = INTEGERS | {ast.Div: INTEGERS[ast.FloorDiv]}
_WORDS = {"false": 0, "true": 1}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": arithmetic.eq,
    "!=": arithmetic.ne,
    "<": arithmetic.lt,
    "<=": arithmetic.le,
    ">": arithmetic.gt,
    ">=": arithmetic.ge,
}
_ROUNDS = 6
_LONGEST_BUILTIN = 40  # characters, with blanks
ALIKE_IN_A_BLOCK = frozenset({"call_expression", "lambda_expression"})
ALIKE_IN_A_WARP = ALIKE_IN_A_BLOCK | {"subscript_expression", "pointer_expression"}
"""Expressions whose value counts as the same for those threads, as that of a division does."""


class CudaConstants:
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
        if (compare := COMPARISONS.get(operator(node))) is None:
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
def constants_of(reading: CudaReading) -> CudaConstants:
    """Return the constants of one source, worked out once."""
    return CudaConstants(reading)


class ThreadValues:
    """The names of one function that are computed from a builtin, e.g. `threadIdx.x` or any `blockIdx`.

    Expressions of the kinds `alike`, and beside these quotients, count as the same for all threads.
    """

    def __init__(
        self,
        reading: CudaReading,
        function: Function,
        builtin: str,
        *,
        alike: frozenset[str] = frozenset(),
        quotients: bool = True,
    ) -> None:
        self._reading = reading
        self._function = function
        self._builtin = re.compile(builtin)
        self._alike, self._quotients = alike, quotients
        self._known: dict[int, bool] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """Variables whose value comes from the builtin, directly or through others."""
        found: set[str] = set()
        pairs = self._bindings()
        for _ in range(_ROUNDS):
            new = {name for name, value in pairs if name not in found and self._comes(value, found)}
            if not new:
                break
            found |= new
        return frozenset(found)

    def holds(self, node: Node) -> bool:
        """Return whether the value of an expression comes from the builtin."""
        if node.id not in self._known:
            self._known[node.id] = self._comes(node, self.names)
        return self._known[node.id]

    def _comes(self, node: Node, names: set[str] | frozenset[str]) -> bool:
        stack = [node]
        while stack:
            current = stack.pop()
            if current.type == "field_expression":
                short = current.end_byte - current.start_byte <= _LONGEST_BUILTIN
                if short and self._builtin.fullmatch("".join(self._reading.text(current).split())):
                    return True
                inner = current.child_by_field_name("argument")
                stack += [inner] if inner is not None and not self._alike else []
            elif current.type == "identifier":
                if self._reading.text(current) in names:
                    return True
            elif not self._is_alike(current):
                stack += current.named_children
        return False

    def _is_alike(self, node: Node) -> bool:
        divided = node.type == "binary_expression" and operator(node) in ("/", ">>")
        return bool(self._alike) and ((divided and self._quotients) or node.type in self._alike)

    def _bindings(self) -> list[tuple[str, Node]]:
        reading = self._reading
        declared = [(each.name, each.value) for each in reading.variables_in(self._function) if each.value is not None]
        assigned = sides(reading.inside(self._function, "assignment_expression"))
        return declared + [(reading.text(left), right) for _, left, right in assigned if left.type == "identifier"]
