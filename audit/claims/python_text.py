"""An untrusted Python source, read through its syntax tree. Nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from audit.model import python_text
from audit.model.errors import BadInput
from audit.model.untrusted import checked_text
from audit.review.python_constants import Constants, NotConstant, bindings
from audit.review.python_tree import calls_of, imports, last_name

MODEL = "ModelNew"
"""KernelBench's name of the class that is called where a source has no function of the entry's name."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DTYPES = {"float16": "float16", "half": "float16", "bfloat16": "bfloat16", "float32": "float32", "float": "float32"}


class PythonText:
    """A parsed source; `where` is the file, row, column or cell, which begins every message. Raises BadInput: not
    UTF-8, too large, or not Python."""

    def __init__(self, data: bytes, *, where: str) -> None:
        self.where = where
        self.text = checked_text(data, where=where)
        try:
            self.tree = python_text.module(self.text)
            self._top = _top_level(self.tree)
            self._constants = Constants(self._top)
        except (SyntaxError, ValueError) as error:
            line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
            raise BadInput(f"{where}: {line}not valid Python ({getattr(error, 'msg', error)})") from error
        except (RecursionError, MemoryError) as error:
            raise BadInput(f"{where}: nested too deeply to be read") from error

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions at the top level."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes at the top level."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def assigned(self) -> set[str]:
        """The names that assignments at the top level bind."""
        return set(bindings(self.tree.body))

    def binds(self, name: str) -> bool:
        """Return whether a function or an assignment at the top level binds a name, which no import does."""
        return name in self.functions or name in self.assigned

    @cached_property
    def integers(self) -> dict[str, int]:
        """Names that the top level binds once, to a positive integer made of constants alone."""
        found = {}
        for name, node in self._constants.bound.items():
            if not any(isinstance(each, ast.Name) for each in ast.walk(node)):
                value = self.value(node)
                if type(value) is int and value > 0:
                    found[name] = value
        return found

    def with_integers(self, values: Mapping[str, int]) -> PythonText:
        """Return the same source with those of its top-level integers replaced; what is made of them changes too."""
        tree = ast.parse(self.text)
        for name, holder, place in _integer_places(tree):
            if name in values:
                constant = ast.Constant(values[name])
                if place is None:
                    holder.value = constant
                else:
                    holder.value.elts[place] = constant
        return PythonText(ast.unparse(ast.fix_missing_locations(tree)).encode(), where=self.where)

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression of constants; None where constants do not decide it."""
        try:
            return self._constants.value(node)
        except (NotConstant, RecursionError, ValueError, OverflowError):
            return None

    def bound(self, name: str) -> ast.expr:
        """Return the expression that the top level binds to a name. Raises KeyError: there is none, or several."""
        return self._constants.bound[name]

    def constant(self, name: str) -> Any:
        """Return the one value that the top level binds to a name; None where constants do not decide it."""
        node = self._constants.bound.get(name)
        return None if node is None else self.value(node)

    def returned(self, function: str) -> ast.expr | None:
        """Return the expression of a top-level function's only `return`, if it holds no name of the function's own."""
        node = self.functions.get(function)
        found = [each for each in ast.walk(node) if isinstance(each, ast.Return)] if node else []
        value = found[0].value if len(found) == 1 else None
        return value if node is not None and value is not None and free_names(value) <= free_names(node) else None

    def reached(self, node: ast.AST) -> set[str]:
        """Return the top-level names that a node needs, directly or through other names."""
        seen: set[str] = set()
        queue: list[ast.AST] = [node]
        while queue:
            for name in free_names(queue.pop()) - seen:
                if name in self._holders:
                    seen.add(name)
                    queue += self._holders[name]
        return seen

    def needed(self, node: ast.AST) -> list[ast.stmt]:
        """Return the top-level statements that bind what a node needs, in order."""
        return sorted({one for name in self.reached(node) for one in self._holders[name]}, key=lambda one: one.lineno)

    def used_by(self, *names: str) -> str:
        """Return the source of the first of those top-level classes or functions that there is, and of all it needs,
        without tests of the module; the whole source where there is none."""
        node = next((found for name in names if (found := self.classes.get(name) or self.functions.get(name))), None)
        if node is None:
            return self.text
        wanted = dict.fromkeys([node, *self.needed(node)])
        return "\n".join(ast.get_source_segment(self.text, one) or "" for one in wanted)

    @cached_property
    def _holders(self) -> dict[str, list[ast.stmt]]:
        """For every top-level name the statements that bind it."""
        found: dict[str, list[ast.stmt]] = {}
        for node in self.tree.body:
            for name in bound_by(node):
                found.setdefault(name, []).append(node)
        return found

    def dtype_of(self, function: str | ast.AST) -> str:
        """Return the dtype of fractions that a function makes, one of the top level by name: the first, or float32."""
        node = self.functions.get(function) if isinstance(function, str) else function
        named = [each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)] if node else []
        return next((DTYPES[name] for name in named if name in DTYPES), "float32")

    def calls(self, name: str) -> Iterator[ast.Call]:
        """Yield every call of a function of that last name."""
        return calls_of(self.tree, (name,))


def _integer_places(tree: ast.Module) -> Iterator[tuple[str, Any, int | None]]:
    """Yield the names that assignments at the top level bind, the statement, and the place in its tuple of values."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name):
            yield target.id, statement, None
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from ((last_name(one), statement, place) for place, one in enumerate(target.elts))


def bound_by(node: ast.AST) -> set[str]:
    """Return the names a top-level statement binds, definitions within its blocks included."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    if isinstance(node, ast.stmt | ast.ExceptHandler) and hasattr(node, "body"):  # what a function binds is its own
        return {name for each in ast.iter_child_nodes(node) for name in bound_by(each)}
    return imported_by(node) | _stored(node)


def imported_by(node: ast.AST) -> set[str]:
    """Return the names that imports of a statement bind, those of a `try` or an `if` included."""
    return set(imports(ast.walk(node)))


def _top_level(tree: ast.Module) -> ast.Module:
    """Return the statements that bind names of the module: without definitions, and without what a function rebinds."""
    rebound = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    body = [node for node in tree.body if not isinstance(node, _DEFINITIONS) and not bound_by(node) & rebound]
    return ast.Module(body=body, type_ignores=[])


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}


def free_names(node: ast.AST) -> set[str]:
    """Return the names that a node takes from around it, without those that its own functions bind."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inside = {name for child in ast.iter_child_nodes(node) for name in free_names(child)}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        given = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        of_module = {name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names}
        inside = (inside - given - _stored(node)) | of_module
    return inside


def named_of_reference(text: PythonText, function: str, maker: str) -> tuple[str, ...]:
    """Return the names of the last arguments that the function gets by name; all where `maker` returns a dict."""
    made = _made(text.functions.get(maker))
    if isinstance(made, ast.Dict):
        keys = [one.value for one in made.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return tuple(keys) if len(keys) == len(made.keys) else ()
    return _last(text.functions.get(function), len(made.elts) if made else None)


def named_of_kernel(kernel: ast.FunctionDef | None, reference: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the same for the kernel, which is called with the arguments of the reference.

    Args:
        kernel: the entry; None where its text is no function.
        reference: the arguments that the reference gets by name.
        names: the parameters of the reference, in order.
    """
    if kernel is None:
        return ()
    taken = {one.arg for one in (*kernel.args.args, *kernel.args.kwonlyargs)}
    if reference and (kernel.args.kwarg or taken.issuperset(reference)):
        return tuple(reference)
    own = _last(kernel, None)
    tail = tuple(names[len(names) - len(own) :])
    return tail if set(tail) == set(own) else own


def _made(maker: ast.FunctionDef | None) -> ast.Dict | ast.List | ast.Tuple | None:
    """Return what a function without branches returns, where that is a literal."""
    found = [one.value for one in ast.walk(maker) if isinstance(one, ast.Return)] if maker else []
    only = found[0] if len(found) == 1 else None
    return only if isinstance(only, ast.Dict | ast.List | ast.Tuple) else None


def _last(function: ast.FunctionDef | None, count: int | None) -> tuple[str, ...]:
    """Return the parameters by keyword alone that so many arguments reach, at least those without a default."""
    if function is None or not function.args.kwonlyargs:
        return ()
    given = function.args
    named = [one.arg for one in given.kwonlyargs]
    due = [name for name, default in zip(named, given.kw_defaults, strict=True) if default is None]
    beyond = 0 if count is None else count - len(given.posonlyargs) - len(given.args)
    return tuple(named[:beyond] if beyond > len(due) else due)
