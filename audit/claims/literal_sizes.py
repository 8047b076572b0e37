"""Sizes without a name: whole numbers in the calls of `get_inputs` that make tensors.

`torch.randn(4096, 8)` has one that is called `size_4096` here. A number below LEAST stays, since no smaller one is
proposed for it.
"""

from __future__ import annotations

import ast

from audit.review.python_tree import calls_of, last_name

FUNCTIONS = ("get_inputs", "inputs")
MAKERS = ("randn", "rand", "zeros", "ones", "empty", "full", "randint")
LEAST = 17


def literal_sizes(tree: ast.Module) -> dict[str, list[ast.Constant]]:
    """Return the places of each such number by its name; none of a number that stands elsewhere in the source too."""
    makers = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS]
    places = [one for node in makers for call in makers_in(node) for one in dimensions(call)]
    sizes = [one for one in places if isinstance(one, ast.Constant) and type(one.value) is int and one.value >= LEAST]
    known = set(map(id, sizes))
    elsewhere = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in known}
    found: dict[str, list[ast.Constant]] = {}
    for one in sizes:
        if one.value not in elsewhere:
            found.setdefault(name_of(one), []).append(one)
    return found


def name_of(size: ast.Constant) -> str:
    """Return the name of such a number."""
    return f"size_{size.value!r}"


def makers_in(node: ast.AST) -> list[ast.Call]:
    """Return the calls within a node that make tensors."""
    return list(calls_of(node, MAKERS))


def dimensions(call: ast.Call) -> list[ast.expr]:
    """Return the sizes among a maker's positional arguments."""
    arguments = call.args[:1] if last_name(call.func) == "full" else call.args
    found = [one for argument in arguments for one in _spread(argument)]
    return found[2:] if last_name(call.func) == "randint" else found


def _spread(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Starred):
        return [node.value]
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]
