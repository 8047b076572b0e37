"""Runs in a child: a kernel's syntax as Triton's compiler reads it, where the interpreter would leave it to Python.

The interpreter compiles a kernel's syntax tree as Python, in which `a and b` of two tensors is `b`. Triton's code
generator makes it a logical operation on elements, calls a function of the language wherever its name comes from, and
refuses some of Python. The tree is rewritten so that methods of `Meaning` decide. Lines stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

SEMANTIC = "interpreter_semantic"
"""The interpreter's object that a rewritten kernel already calls `to_tensor` of."""
ANY_LIBDEVICE = "triton.language.extra.libdevice"
"""The module whose functions are empty: the compiler takes those of the same names for its target."""
CLASSES = ("range", "static_range")
CHAINED = "Triton does not compile a chained comparison"
LEFT = "Triton does not compile break and continue"
AMBIGUOUS = "Triton does not compile a condition of more than one element"


def patch(interpreter: Any) -> None:
    """Rewrite the kernels of the module `triton.runtime.interpreter`."""
    meaning, semantic = Meaning(interpreter), interpreter.interpreter_semantic
    for name in ("called", "both", "either", "negated", "condition", "refused"):
        setattr(semantic, name, getattr(meaning, name))
    interpreter.FunctionRewriter.ast_transformer = Rewritten()
    for kind, name in ((interpreter.ReduceOps, "generic_reduce"), (interpreter.ScanOps, "generic_scan")):
        setattr(kind, name, _combined(getattr(kind, name)))


class Meaning:
    """What the compiler makes of values that a kernel's syntax joins. A Python value is a `constexpr` to it."""

    def __init__(self, interpreter: Any) -> None:
        from triton.language.extra.cuda import libdevice

        self._language, self._semantic = interpreter.tl, interpreter.interpreter_semantic
        self._libdevice = libdevice
        built_in = self._language.core.is_builtin
        self._names = {id(one): name for name, one in vars(self._language).items() if built_in(one) or name in CLASSES}

    def called(self, function: Any) -> Any:
        """Return what a call of that value calls: the interpreter's own function for one of the language."""
        if getattr(function, "__module__", None) == ANY_LIBDEVICE:
            function = getattr(self._libdevice, function.__name__)
        if name := self._names.get(id(function)):
            return getattr(self._language, name)  # replaced while a kernel runs
        if self._language.core.is_builtin(function):
            return partial(function, _semantic=self._semantic)
        return function

    def both(self, *values: Callable[[], Any]) -> Any:
        """Return `and` of the values: of conditions in tensors by element, and Python's of all else."""
        return self._joined(values, self._semantic.logical_and, ends=False)

    def either(self, *values: Callable[[], Any]) -> Any:
        """Return `or`, likewise."""
        return self._joined(values, self._semantic.logical_or, ends=True)

    def negated(self, value: Any) -> Any:
        """Return `not` of the value."""
        return self._semantic.not_(value) if self._is_condition(value) else not value

    def condition(self, value: Any) -> Any:
        """Return the condition of `if`, `while` or a conditional expression.

        Raises:
            TypeError: the compiler refuses it.
        """
        value = value.condition if isinstance(value, self._language.condition) else value
        if isinstance(value, self._language.tensor) and value.handle.data.size != 1:
            raise TypeError(AMBIGUOUS)
        return value

    def refused(self, reason: str) -> Any:
        """Raise TypeError for that reason."""
        raise TypeError(reason)

    def _joined(self, values: tuple[Callable[[], Any], ...], join: Callable[..., Any], *, ends: bool) -> Any:
        """Evaluate values in order, up to a Python value that decides; join tensors from the right, as the compiler."""
        tensors: list[Any] = []
        value: Any = None
        for given in values:
            value = given()
            if self._is_condition(value):
                tensors.append(value)
            elif bool(value) is ends:
                return value
        while len(tensors) > 1:
            right, left = tensors.pop(), tensors.pop()
            tensors.append(join(left, right))
        return tensors[0] if tensors else value

    def _is_condition(self, value: Any) -> bool:
        """Return whether it is a tensor to join: a number alone may be 1, which the compiler takes as a constant."""
        return isinstance(value, self._language.tensor) and (value.type.is_block() or value.type.is_int1())


class Rewritten(ast.NodeTransformer):
    """Replaces the interpreter's own transformer, whose change of assignments is kept."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave arguments and annotations, which Python evaluates before a launch."""
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Make a tensor of a number that gets a name, as the interpreter does."""
        if len(node.targets) > 1:
            raise ValueError("Multiple assignments are not supported")
        self.generic_visit(node)
        node.value = _asked("to_tensor", node.value, ast.Constant(value=False))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation."""
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Evaluate the values one after another."""
        self.generic_visit(node)
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        values = [ast.copy_location(ast.Lambda(args=nothing, body=one), one) for one in node.values]
        return _asked("both" if isinstance(node.op, ast.And) else "either", *values, at=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Change `not` alone."""
        self.generic_visit(node)
        return _asked("negated", node.operand, at=node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Refuse a chain where it is reached."""
        self.generic_visit(node)
        return node if len(node.ops) == 1 else _asked("refused", ast.Constant(value=CHAINED), at=node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Look at the function before the call."""
        self.generic_visit(node)
        node.func = _asked("called", node.func)
        return node

    def _conditional(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        node.test = _asked("condition", node.test)
        return node  # type: ignore[no-any-return]

    visit_If = visit_While = visit_IfExp = _conditional  # noqa: N815

    def _left(self, node: Any) -> ast.AST:
        return ast.copy_location(ast.Expr(value=_asked("refused", ast.Constant(value=LEFT), at=node)), node)

    visit_Break = visit_Continue = _left  # noqa: N815

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Evaluate the condition alone: without debugging the compiler drops the assertion."""
        self.generic_visit(node)
        return ast.copy_location(ast.Expr(value=node.test), node)


def _asked(name: str, *values: ast.expr, at: ast.AST | None = None) -> ast.expr:
    """Return the call of that function with the values, at the place of a node: of the first value unless said."""
    method = ast.Attribute(value=ast.Name(id=SEMANTIC, ctx=ast.Load()), attr=name, ctx=ast.Load())
    call = ast.Call(func=method, args=[*values], keywords=[])
    place = at or values[0]
    for node in (call, method, method.value):
        ast.copy_location(node, place)
    return call


def _combined(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return the reduction or scan with the rewritten function instead of the source's."""

    def function(operation: Any, given: Any) -> Any:
        source = operation.combine_fn
        operation.combine_fn = _Called(source)
        try:
            return plain(operation, given)
        finally:
            operation.combine_fn = source

    return function


class _Called:
    """A jitted function whose attribute `fn`, which the interpreter calls, is the call that rewrites."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
