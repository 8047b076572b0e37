"""The files that `audit.check` imports: those that were named, and the modules of the functions that were given."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit.claims.importers.python_text import PythonText, bound_by
from audit.model.errors import BadInput
from audit.review.python_tree import inside, names_in

Source = str | Path | Callable[..., Any]
NAMES = {"kernel": "kernel", "reference": "reference", "inputs": "get_inputs"}
LINES = {
    "kernel": "\n\nkernel = {}\n",
    "reference": "\n\ndef reference(*arguments):\n    return {}(*arguments)\n",
    "inputs": "\n\ndef get_inputs():\n    return {}()\n",
}
"""The name that each argument has in the file that is imported, and the lines that give it to another function."""
OF_TESTS = ("audit", "pytest")
"""Packages that a module imports to have itself tested, never to compute."""


def files(kernel: Source, reference: Source, inputs: Callable[[], list[Any]] | None, folder: Path) -> list[Path]:
    """Return the files to import; modules of functions are written into `folder`, with a name of ours for each.

    Raises:
        BadInput: a callable that no module defines, or two files of one name.
    """
    paths: list[Path] = []
    modules: dict[Path, dict[str, str]] = {}
    for argument, one in {"kernel": kernel, "reference": reference, "inputs": inputs}.items():
        if callable(one):
            module = _module_of(one, argument)
            modules.setdefault(module, {})[argument] = one.__name__
        elif one is not None:
            paths.append(Path(one))
    for module, given in modules.items():
        text = without_tests(module.read_text(encoding="utf-8"), needed=set(given.values()), where=str(module))
        added = (LINES[argument].format(name) for argument, name in given.items() if name != NAMES[argument])
        (folder / module.name).write_text(text + "".join(added), encoding="utf-8")
        paths.append(folder / module.name)
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise BadInput(f"check: two files are called {names[0]}; give one of them another name")
    return paths


def without_tests(text: str, *, needed: set[str], where: str) -> str:
    """Return a module without the imports of `OF_TESTS` and the statements that use them; line numbers stay.

    Where a needed function uses them, or one line holds more, the text stays as it is, and `reach` says so.
    """
    tree = PythonText(text.encode(), where=where).tree
    found = _of_tests(tree)
    beside = {line for one in tree.body if one not in found for line in _lines(one)}
    kept = text.split("\n")
    for statement, rest in found.items():
        lines = _lines(statement)
        if needed & (bound_by(statement) - _bound(rest)) or beside & {*lines}:
            return text
        kept[lines.start - 1 : lines.stop - 1] = [ast.unparse(rest) if rest else "", *[""] * (len(lines) - 1)]
    return "\n".join(kept)


def _lines(statement: ast.stmt) -> range:
    """Return the numbers of the lines of a statement with its decorators."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return range(first, (statement.end_lineno or first) + 1)


def _bound(statement: ast.stmt | None) -> set[str]:
    return set() if statement is None else bound_by(statement)


def _of_tests(tree: ast.Module) -> dict[ast.stmt, ast.stmt | None]:
    """Return the top-level statements that import or use `OF_TESTS`, each with what is left of it."""
    found = {one: _rest(one) for one in tree.body if any(map(_is_of_tests, _imported(one)))}
    names = {name for one, rest in found.items() for name in bound_by(one) - _bound(rest)}
    while more := [one for one in tree.body if one not in found and names_in(one) & names]:
        found |= dict.fromkeys(more)
        names |= {name for one in more for name in bound_by(one)}
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that imports within a statement name."""
    yield from (alias.name for one in inside(node, ast.Import) for alias in one.names)
    yield from (one.module or "" for one in inside(node, ast.ImportFrom))


def _is_of_tests(module: str) -> bool:
    return module.partition(".")[0] in OF_TESTS


def _rest(statement: ast.stmt) -> ast.stmt | None:
    """Return `import torch` of `import torch, audit`; None where nothing is left."""
    if not isinstance(statement, ast.Import):
        return None
    rest = [one for one in statement.names if not _is_of_tests(one.name)]
    return ast.Import(names=rest) if rest else None


def _module_of(function: Callable[..., Any], argument: str) -> Path:
    """Return the file of a function. Raises BadInput where it has none, or is no function of the file's top level."""
    name, file = getattr(function, "__qualname__", ""), None
    with suppress(TypeError, OSError):
        file = inspect.getsourcefile(function)
    known = getattr(sys.modules.get(getattr(function, "__module__", None) or ""), name, function)
    if file is None or not Path(file).is_file() or not name.isidentifier() or known is not function:
        raise BadInput(
            f"check: {argument} is {_kind(function)}, which has no source of its own; write a function with `def` at "
            "the top level of a Python file that calls it, and give that function or the file"
        )
    return Path(file)


def _kind(function: Callable[..., Any]) -> str:
    """Return what a callable is, with its article."""
    name = getattr(function, "__name__", "")
    if isinstance(function, functools.partial):
        return "a functools.partial"
    if inspect.isbuiltin(function):
        return f"the built-in {name}"
    if inspect.isfunction(function) and name == "<lambda>":
        return "a lambda"
    if inspect.isfunction(function):
        return f"the function {name} inside another one or wrapped by another one"
    return f"an object of type {type(function).__name__}"
