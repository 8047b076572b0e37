"""Parts of a Python syntax tree: nodes by kind, the names they hold and bind, and what imports bind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import TypeAlias, TypeVar

Node = TypeVar("Node", bound=ast.AST)
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def inside(node: ast.AST, *kinds: type[Node]) -> Iterator[Node]:
    """Yield the nodes of these kinds within a node, itself among them, outer ones first."""
    return (each for each in ast.walk(node) if isinstance(each, kinds))


def raises(statements: Iterable[ast.AST]) -> bool:
    """Return whether any of the statements raises."""
    return any(any(inside(each, ast.Raise)) for each in statements)


def names_in(node: ast.AST) -> set[str]:
    """Return the plain names within a node."""
    return {each.id for each in inside(node, ast.Name)}


def last_name(node: ast.AST) -> str:
    """Return the name of a name or an attribute, `load` for `cpp_extension.load`; empty for any other node."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def calls_of(node: ast.AST, names: Container[str]) -> Iterator[ast.Call]:
    """Yield the calls within a node of functions of such a last name."""
    return (each for each in inside(node, ast.Call) if last_name(each.func) in names)


def stored_names(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Return the plain names that some of these nodes bind, and how often."""
    return Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return the names that imports among these nodes bind, each with the dotted name that it stands for."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            pairs = ((each.asname or each.name.split(".")[0], each.asname and each.name) for each in node.names)
            found |= {name: full or name for name, full in pairs}
        elif isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: imported(node, each) for each in node.names}
    return found


def imported(node: ast.ImportFrom, one: ast.alias) -> str:
    """Return the dotted name that one name of a `from ... import` stands for."""
    return f"{'.' * node.level}{node.module or ''}.{one.name}"


def path(node: ast.AST) -> tuple[ast.AST, list[str]]:
    """Return what a chain of attributes begins at, and the names of the attributes: `x` and a, b of `x.a.b`."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return node, attributes[::-1]


def parameters(function: FunctionNode | None) -> list[str]:
    """Return the names of a function's parameters, those by keyword alone last; none of no function."""
    given = function.args if function else None
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)] if given else []


def parameters_off(function: FunctionNode) -> set[str]:
    """Return the parameters of a function that are true only if its caller says so: no default, or a false one."""
    on = {name for name, one in _defaults(function) if not (isinstance(one, ast.Constant) and not one.value)}
    return {*parameters(function)} - on


def required(function: FunctionNode) -> list[str]:
    """Return the parameters of a function without a default."""
    given = {name for name, _ in _defaults(function)}
    return [name for name in parameters(function) if name not in given]


def optional(function: FunctionNode) -> set[str]:
    """Return the parameters of a function whose default is None."""
    return {name for name, one in _defaults(function) if isinstance(one, ast.Constant) and one.value is None}


def _defaults(function: FunctionNode) -> list[tuple[str, ast.expr]]:
    given = function.args
    last = zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False)
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [(name.arg, default) for name, default in (*last, *named) if default is not None]
