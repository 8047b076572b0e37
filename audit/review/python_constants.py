"""Values of expressions in a Python source that constants alone decide; nothing of the source is run."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from audit.review.python_tree import FunctionNode, inside, stored_names

MOST_CHARACTERS = 1 << 22
"""A folded text may be this long; nobody writes a longer one by hand."""
MOST_BITS = 4096
LARGEST_EXPONENT = 64


def _power(base: float, exponent: float) -> Any:
    """Return a power of a small exponent. Raises OverflowError for a large one, and where the result is no real."""
    if abs(exponent) > LARGEST_EXPONENT or base < 0:
        raise OverflowError
    return base**exponent


def _shifted(number: float, by: float) -> int:
    """Return an integer moved to the left by a few bits. Raises OverflowError for other operands."""
    if not (isinstance(number, int) and isinstance(by, int) and 0 <= by <= LARGEST_EXPONENT):
        raise OverflowError
    return number << by


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: _power,
    ast.LShift: _shifted,
}
_MOST_NAMES = 50  # that stand for each other
_TEXT_METHODS = ("strip", "lstrip", "rstrip")


class NotConstant(ValueError):
    """The expression needs more than constants; `line` is where."""

    def __init__(self, node: ast.AST) -> None:
        self.line = getattr(node, "lineno", 0)
        super().__init__(f"not made of constants (line {self.line})")


class Constants:
    """Names that a module binds exactly once, at its top level, and the value of expressions made of them.

    Args:
        tree: the module.
        within: functions around the expressions, the outermost first. A name is what the innermost of them binds it to,
            where that one binds it exactly once, and an attribute of `self` what the whole module binds it to once.
        in_blocks: whether `if`, `try` and `with` at the top level count as the top level.
    """

    def __init__(self, tree: ast.Module, *, within: Sequence[FunctionNode] = (), in_blocks: bool = False) -> None:
        self.bound = bindings(_at_top_level(tree) if in_blocks else tree.body)
        stores = stored_names(ast.walk(tree))
        for name in {name for name in self.bound if stores[name] > 1}:
            del self.bound[name]  # which of its values holds is not for a reader to say
        for function in within:
            stored = stored_names(ast.walk(function))
            parameters = {each.arg for each in inside(function.args, ast.arg)}
            found = bindings(ast.walk(function))
            for name in {*stored, *parameters}:
                self.bound.pop(name, None)
                if name in found and stored[name] == 1 and name not in parameters:
                    self.bound[name] = found[name]
        if within:
            self.bound |= _attributes_of_self(tree)
        self._open: set[str] = set()
        self._known: dict[str, Any] = {}

    def value(self, node: ast.expr) -> Any:  # noqa: PLR0911  # a case a kind of node
        """Return the value: numbers, texts, None, and lists, tuples and dicts of them. Raises NotConstant."""
        match node:
            case ast.Constant(value=None | str() | int() | float()):
                return _bounded(node.value, node)
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.value(each) for each in elements]
            case ast.Dict(values=values) if len(keys := [key for key in node.keys if key is not None]) == len(values):
                return {self._piece(key): self.value(value) for key, value in zip(keys, values, strict=True)}
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand)
            case ast.BinOp():
                return self._joined(node)
            case ast.JoinedStr():
                text = ""
                for each in node.values:
                    text = _bounded(text + self._piece(each), node)
                return text
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[], keywords=[]):
                if isinstance(value := self.value(inner), str) and method in _TEXT_METHODS:
                    return getattr(value, method)()
        raise NotConstant(node)

    def text_line(self, node: ast.expr) -> int | None:
        """Return the line on which a text begins if it stands there as one constant; None for one put together."""
        for _ in range(_MOST_NAMES):
            node = self.bound.get(_name(node), node)
        return node.lineno if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

    def _named(self, node: ast.Name | ast.Attribute) -> Any:
        name = _name(node)
        if name not in self.bound or name in self._open:
            raise NotConstant(node)
        self._open.add(name)
        if name not in self._known:  # it stays open where it has no value: asked again, it has none either
            self._known[name] = self.value(self.bound[name])
        self._open.discard(name)
        return self._known[name]

    def _number(self, node: ast.expr) -> float:
        value = self.value(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise NotConstant(node)
        return value

    def _joined(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        both_text = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
        both_lists = isinstance(left, list) and isinstance(right, list) and isinstance(node.op, ast.Add)
        if both_text or both_lists:
            return _bounded(left + right, node)
        if type(node.op) not in OPERATORS:
            raise NotConstant(node)
        try:
            return _bounded(OPERATORS[type(node.op)](self._number(node.left), self._number(node.right)), node)
        except (ZeroDivisionError, OverflowError) as error:
            raise NotConstant(node) from error

    def _piece(self, node: ast.expr) -> str:
        if isinstance(node, ast.FormattedValue):
            if node.conversion != -1 or node.format_spec is not None:
                raise NotConstant(node)
            node = node.value
        value = self.value(node)
        if isinstance(value, list | dict):
            raise NotConstant(node)
        return str(value)


def _bounded(value: Any, node: ast.AST) -> Any:
    """Return a value as it is. Raises NotConstant for a longer text, list or integer than people write."""
    if isinstance(value, str | list) and len(value) > MOST_CHARACTERS:
        raise NotConstant(node)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise NotConstant(node)
    return value


def _in_pairs(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """`height, width = 32, 64` as its names and what each is bound to; nothing where they do not stand side by side."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return {}
    pairs = zip(target.elts, value.elts, strict=True)
    return {name.id: each for name, each in pairs if isinstance(name, ast.Name)}


def functions_around(tree: ast.AST, node: ast.AST) -> list[FunctionNode]:
    """Return the functions of a tree that a node of it stands in, the outermost first."""
    functions = [one for one in ast.walk(tree) if isinstance(one, FunctionNode)]
    return [one for one in functions if any(each is node for each in ast.walk(one))]


def _at_top_level(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module that are in no function, class or loop."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        if isinstance(each, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _at_top_level(each)


def bindings(statements: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Return the names that assignments among these nodes bind, each with the last expression."""
    found: dict[str, ast.expr] = {}
    for node in statements:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found[node.target.id] = node.value
        elif isinstance(node, ast.Assign):
            found |= _in_pairs(node.targets[0], node.value)
    return found


def _attributes_of_self(tree: ast.AST) -> dict[str, ast.expr]:
    """`self.source = ...` of any function, where only one statement of the tree binds an attribute of that name."""
    stored = Counter(node.attr for node in inside(tree, ast.Attribute) if isinstance(node.ctx, ast.Store))
    assigned = [(node.targets[0], node.value) for node in inside(tree, ast.Assign)]
    return {
        _name(target): value
        for target, value in assigned
        if isinstance(target, ast.Attribute) and _name(target) and stored[target.attr] == 1
    }


def _name(node: ast.AST) -> str:
    """`name` or `self.name`; empty for what is neither."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


Operations = dict[type[ast.operator], Callable[[int, int], int | None]]
INTEGERS: Operations = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // other if other else None,
}


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
