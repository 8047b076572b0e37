"""Arguments by name: which of those that `get_inputs` makes a function takes by keyword alone, read from its text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from audit.claims.importers.python_text import PythonText


def of_reference(text: PythonText, function: str, maker: str) -> tuple[str, ...]:
    """Return the names of the last arguments that the function gets by name; all where `maker` returns a dict."""
    made = _made(text.functions.get(maker))
    if isinstance(made, ast.Dict):
        keys = [one.value for one in made.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return tuple(keys) if len(keys) == len(made.keys) else ()
    return _last(text.functions.get(function), len(made.elts) if made else None)


def of_kernel(kernel: ast.FunctionDef | None, reference: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
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


def parameters(function: ast.FunctionDef | None) -> list[str]:
    """Return the names of a function's parameters, those by keyword alone last."""
    given = function.args if function else None
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)] if given else []


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
