"""Values of a device function that differ between the threads of a block, and values that come from `blockIdx`.

A rule that asks about the threads of a warp or of a block may count a value that is loaded, returned by a call, or
divided as the same for all of them: what a rule does not know it keeps quiet about.
"""

from __future__ import annotations

import re
from functools import cached_property

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import operator, sides

_ROUNDS = 6
_LONGEST_BUILTIN = 40  # characters, with blanks
ALIKE_IN_A_BLOCK = frozenset({"call_expression", "lambda_expression"})
ALIKE_IN_A_WARP = ALIKE_IN_A_BLOCK | {"subscript_expression", "pointer_expression"}
"""Expressions whose value counts as the same for those threads, as that of a division does."""
COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


class ThreadValues:
    """The names of one function that are computed from a builtin, e.g. `threadIdx.x` or any `blockIdx`."""

    def __init__(
        self, reading: CudaReading, function: Function, builtin: str, *, alike: frozenset[str] = frozenset()
    ) -> None:
        self._reading = reading
        self._function = function
        self._builtin = re.compile(builtin)
        self._alike = alike
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
            elif not (self._alike and self._is_alike(current)):
                stack += current.named_children
        return False

    def _is_alike(self, node: Node) -> bool:
        divided = node.type == "binary_expression" and operator(node) in ("/", ">>")
        return divided or node.type in self._alike

    def _bindings(self) -> list[tuple[str, Node]]:
        reading = self._reading
        declared = [(each.name, each.value) for each in reading.variables_in(self._function) if each.value is not None]
        assigned = sides(reading.inside(self._function, "assignment_expression"))
        return declared + [(reading.text(left), right) for _, left, right in assigned if left.type == "identifier"]
