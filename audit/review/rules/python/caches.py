"""Rules about results that are kept from one call to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from audit.review.python_reading import PythonReading
from audit.review.python_tree import FunctionNode, inside, names_in, stored_names
from audit.review.rule import Spot, rule

_KINDS = {
    **dict.fromkeys(["data_ptr", "untyped_storage", "_cdata"], "address"),
    **dict.fromkeys(["shape", "size", "numel"], "shape"),
    **dict.fromkeys(["tobytes", "hash_tensor", "item", "sum", "tolist"], "contents"),
}
"""What an attribute of an input tells of it."""
_MEMO = frozenset({"functools.lru_cache", "functools.cache"})


@rule("fresh_values")
def result_cache(reading: PythonReading) -> list[Spot]:
    """Is a result looked up by the address, the identity, the shape or the contents of an input?

    Silent on caches by device, shape or address that hold no result, since what is found must be returned, and on
    graphs that are kept or replayed, which `cuda_graph` asks about.
    """
    looking = (each for each in reading.functions if "replay" not in reading.attributes(each))
    spots = [spot for function in looking for spot in _of_function(reading, function)]
    for entry in reading.entries:
        if any(reading.name(mark) in _MEMO for mark in entry.decorator_list):
            spots.append(Spot(entry.lineno, f"{entry.name} keeps results by the identity of its inputs"))
    return spots


def _of_function(reading: PythonReading, function: FunctionNode) -> list[Spot]:
    kinds = {
        target.id: kind
        for node in inside(function, ast.Assign)
        if not isinstance(node.value, ast.Subscript) and (kind := _kind(node.value, {}))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    spots = []
    for node in ast.walk(function):
        key = _key(node)
        graphs = "graph" in reading.name(node.value if isinstance(node, ast.Subscript) else node).lower()
        kind = _kind(key, kinds) if key is not None and not graphs and reading.function(node) is function else None
        if kind and _returned(reading, node, function):
            spots.append(Spot(node.lineno, f"a value is looked up by the {kind} of an input"))  # type: ignore[attr-defined]
    return spots


def _key(node: ast.AST) -> ast.expr | None:
    """Return the key of `kept[key]`, `kept.get(key)` and `key in kept`."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
        plain = isinstance(node.value, ast.Name | ast.Attribute)
        return node.slice if plain and not isinstance(node.slice, ast.Constant) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "setdefault"):
        return node.args[0] if node.args else None
    return None


def _kind(key: ast.expr, kinds: dict[str, str]) -> str | None:
    for node in ast.walk(key):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("id", "hash"):
            return "address"
        if isinstance(node, ast.Attribute) and node.attr in _KINDS:
            return _KINDS[node.attr]
    known = [kinds[name] for name in sorted(names_in(key)) if name in kinds]
    return known[0] if known else None


def _returned(reading: PythonReading, node: ast.AST, function: FunctionNode) -> bool:
    """Return whether what is found is part of the function's result, directly or by one variable."""
    holder = next(reading.ancestors(node), None)
    while isinstance(holder, ast.Attribute) or (isinstance(holder, ast.Call) and holder.func is node):
        node, holder = holder, next(reading.ancestors(holder), None)
    if isinstance(holder, ast.Return):
        return True
    if not isinstance(holder, ast.Assign):
        return False
    names = {target.id for target in holder.targets if isinstance(target, ast.Name)}
    returns = inside(function, ast.Return)
    return any(each.value is not None and names & _given_back(each.value) for each in returns)


def _given_back(node: ast.expr) -> set[str]:
    """Return the names within an expression that are not only handed to a call."""
    if isinstance(node, ast.Call):
        return _given_back(node.func.value) if isinstance(node.func, ast.Attribute) else set()
    inner = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    return {node.id} if isinstance(node, ast.Name) else {name for each in inner for name in _given_back(each)}


@rule("fresh_values")
def last_call(reading: PythonReading) -> Iterator[Spot]:
    """Is the result of the call before returned when the input is recognised?

    Silent on comparisons with None and with things made in the same call, and where a call stands before the return.
    """
    for entry in reading.functions:
        parameters = set(reading.parameters(entry))
        for node in inside(entry, ast.If):
            if _recognises(reading, node.test, parameters) and _returns_kept(node.body, entry):
                yield Spot(node.lineno, "an input is recognised and what an earlier call kept is returned")


def _recognises(reading: PythonReading, test: ast.expr, parameters: set[str]) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [node.left, node.comparators[0]]
            same = isinstance(node.ops[0], ast.Is) or _is_address(sides[0]) or _is_address(sides[1])
            given = [bool(names_in(side) & parameters) for side in sides]
            constant = any(isinstance(side, ast.Constant) for side in sides)
            if same and any(given) and not all(given) and not constant:
                return True
        if isinstance(node, ast.Call) and reading.name(node) in ("torch.equal", "torch.allclose"):
            return bool(names_in(node) & parameters)
    return False


def _is_address(node: ast.expr) -> bool:
    return any(each.attr == "data_ptr" for each in inside(node, ast.Attribute))


def _returns_kept(body: list[ast.stmt], entry: ast.AST) -> bool:
    """Return a return of an attribute, or of a name that the function does not make itself."""
    own = stored_names(ast.walk(entry))
    for each in body:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            return False
        value = each.value if isinstance(each, ast.Return) else None
        if isinstance(value, ast.Attribute) or (isinstance(value, ast.Name) and value.id not in own):
            return True
    return False
