"""A kernel's syntax as Triton's compiler reads it, where the interpreter would leave it to Python.

The interpreter compiles a kernel's syntax tree as Python, in which `a and b` of two tensors is `b`. Triton's code
generator makes it a logical operation on elements, calls a function of the language wherever its name comes from, and
refuses some of Python. The tree is rewritten so that methods of `Meaning` decide. Lines stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import Any

SEMANTIC = "interpreter_semantic"
"""The interpreter's object that a rewritten kernel already calls `to_tensor` of."""
ANY_LIBDEVICE = "triton.language.extra.libdevice"
"""The module whose functions are empty: the compiler takes those of the same names for its target."""
CLASSES = ("range", "static_range")
READABLE = {"len", "list", "range", "float", "int", "isinstance", "getattr", "hasattr", "print", "min", "max"}
"""Python's functions that the compiler knows."""
PLAIN = (bool, int, float, str, tuple, list, dict, set)
"""Types of globals that it refuses by their type."""
NO_GLOBAL = "Triton does not compile a kernel that reads the global {}, which is no tl.constexpr"
NO_FUNCTION = "Triton does not compile a call of Python's {}"
CHAINED = "Triton does not compile a chained comparison"
LEFT = "Triton does not compile break and continue"
AMBIGUOUS = "Triton does not compile a condition of more than one element"


def patch(interpreter: Any) -> None:
    """Rewrite the kernels of the module `triton.runtime.interpreter`."""
    meaning, semantic = Meaning(interpreter), interpreter.interpreter_semantic
    for name in ("called", "both", "either", "negated", "condition", "refused"):
        setattr(semantic, name, getattr(meaning, name))
    rewriter = interpreter.FunctionRewriter
    rewriter.rewrite_ast = _seeing_globals(rewriter.rewrite_ast)
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
        if name := self._names.get(id(function)):
            return getattr(self._language, name)  # replaced while a kernel runs
        if getattr(function, "__module__", None) == ANY_LIBDEVICE:
            function = getattr(self._libdevice, function.__name__)
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
        """Return the condition of `if`, `while` or an expression. Raises TypeError: the compiler refuses it."""
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
    """Replaces the interpreter's own transformer, whose change of assignments is kept.

    Args:
        refused: names that a kernel may not read, each with the reason.
        constants: globals that are a `tl.constexpr`, which on the left of a tensor takes it for another constant; their
            values are read, as those of arguments are.
    """

    def __init__(self, refused: Mapping[str, str], constants: Collection[str]) -> None:
        self._refused, self._constants = refused, constants
        self._local, self._numbers = set[str](), set[str]()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave out defaults and annotations, which were evaluated where the kernel was defined."""
        arguments = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
        loops = (one.target for one in ast.walk(node) if isinstance(one, ast.For) and not _is_unrolled(one))
        self._numbers |= {one.arg for one in arguments if "constexpr" not in ast.unparse(one.annotation or one)}
        self._numbers |= {one.id for one in loops if isinstance(one, ast.Name)}
        self._local |= {one.arg for one in arguments}
        names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        self._local |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
        node.args.defaults, node.returns = [ast.Constant(value=None) for _ in node.args.defaults], None
        for one in arguments:
            one.annotation = None
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Refuse what the compiler does not read, where it is reached."""
        if node.id in self._local:
            return node
        if node.id in self._constants:
            return ast.copy_location(ast.Attribute(value=node, attr="value", ctx=ast.Load()), node)
        reason = self._refused.get(node.id)
        return _asked("refused", ast.Constant(value=reason), at=node) if reason else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Leave the value of a constant where the source itself asks for it; convert a number as a tensor."""
        name = node.value.id if isinstance(node.value, ast.Name) else None
        if name in self._constants and node.attr == "value":
            return node
        if name in self._numbers and node.attr == "to":
            node.value = _asked("to_tensor", node.value, ast.Constant(value=False))
            return node
        return self.generic_visit(node)

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


def _seeing_globals(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rewriting with the names that the compiler refuses in this kernel's module."""

    def function(rewriter: Any) -> Any:
        from triton import knobs
        from triton.language import constexpr

        around = inspect.getclosurevars(rewriter.fn).nonlocals
        seen = {**rewriter.fn.__globals__, **around}
        refused = {name: NO_FUNCTION.format(name) for name in vars(builtins) if name not in {*READABLE, *seen}}
        if not knobs.compilation.allow_non_constexpr_globals:
            refused |= {name: NO_GLOBAL.format(name) for name in seen if _is_plain(name, seen)}
        constants = {name for name, value in seen.items() if isinstance(value, constexpr)}
        rewriter.ast_transformer = Rewritten(refused, constants)
        made = plain(rewriter)
        if made is rewriter.fn:
            return made
        names = {**made.__globals__, **around} if around else made.__globals__
        whole = FunctionType(made.__code__, names, made.__name__, rewriter.fn.__defaults__)
        kinds = rewriter.fn.__annotations__.items()
        whole.__annotations__ = {name: constexpr if "constexpr" in str(kind) else kind for name, kind in kinds}
        return whole

    return function


def _is_unrolled(loop: ast.For) -> bool:
    """Return whether the compiler takes each value of the loop's variable as a constant."""
    return isinstance(loop.iter, ast.Call) and "static_range" in ast.unparse(loop.iter.func)


def _is_plain(name: str, seen: Mapping[str, Any]) -> bool:
    """Return whether a global is a Python value; older versions of Triton take one that is annotated as constexpr."""
    annotated = "constexpr" in str(seen.get("__annotations__", {}).get(name, ""))
    return type(seen[name]) in PLAIN and name not in READABLE and not annotated


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
        operation.combine_fn = SimpleNamespace(fn=source)  # whose call rewrites
        try:
            return plain(operation, given)
        finally:
            operation.combine_fn = source

    return function
