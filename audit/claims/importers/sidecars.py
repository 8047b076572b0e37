"""A solution of kernelbench.com with the files that it loads behind it, as the site shows them, as one source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from audit.claims.importers import entries, joined, joined_python
from audit.claims.importers.python_text import PythonText
from audit.model.errors import BadInput

ADDED = "the files that the solution loads, in the place of the import or the call that loads each"
_MARK = re.compile(r"(?:^# =+\n)?^# =+ sidecar: (\S{1,100}) .*=$(?:\n# =+$)?", re.MULTILINE)
_FIRST = "solution.py"
_BUILDER = "torch.utils.cpp_extension"
_LOAD = f"from {_BUILDER} import load_inline\n"
_Edit = tuple[ast.Call | ast.ImportFrom, str]


def marked(text: str) -> bool:
    """Return whether other files stand behind the Python of a solution."""
    return _MARK.search(text) is not None


def in_one(text: str, *, where: str) -> str:
    """Return the solution with each file that it imports or loads in that place.

    Raises:
        BadInput: a file is loaded in a way that is not read.
    """
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    files = {mark[1]: text[mark.end() : end].strip("\n") + "\n" for mark, end in zip(marks, ends, strict=True)}
    native = {name: one for name, one in files.items() if name.endswith((*joined.SOURCES, *joined.HEADERS))}
    place = joined_python.place_in(files)
    sources = {_FIRST: text[: marks[0].start()], **{name: files[name] for name in files if name not in native}}
    python = joined_python.Joined(lambda name: sources[name].encode(), place).whole(_FIRST)
    tree = PythonText(python.encode(), where=where)
    names = {file: f"_SIDECAR_{number}" for number, file in enumerate(native, start=1)}
    edits = list(_edits(tree.tree, names)) if native else []
    for mark in marks:
        if mark[1] in native and not any(names[mark[1]] in edit for _, edit in edits):
            line = text.count("\n", 0, mark.start(1)) + 1
            how = "and a variant is one file; give its text to load_inline, and cut it off there"
            raise BadInput(f"{where}: line {line} begins {mark[1]}, {how}")
    texts = "".join(f"{name} = {entries.literal(native[file])}\n" for file, name in names.items())
    return _edited(python, tree.tree, edits, f"{_LOAD}{texts}" if native else "")


def _edits(tree: ast.Module, names: Mapping[str, str]) -> Iterator[_Edit]:
    """Yield the calls that load a file and imports of `load`, and what stands in their place."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
        if isinstance(node, ast.ImportFrom) and node.module == _BUILDER:
            aliases = [ast.alias("load_inline") if one.name == "load" else one for one in node.names]
            yield node, ast.unparse(ast.ImportFrom(_BUILDER, aliases, 0))
    for node in (one for one in ast.walk(tree) if isinstance(one, ast.Call)):
        named = {one.arg: one.value for one in node.keywords}
        reads = isinstance(node.func, ast.Attribute) and node.func.attr == "read_text"
        loaded = node.func.value if isinstance(node.func, ast.Attribute) and reads else named.get("sources")
        file = None if loaded is None else _file(loaded, bound, names)
        if file is not None and reads:
            yield node, names[file]
        elif file is not None:
            kept = [*map(ast.unparse, node.args), "cpp_sources=''", f"cuda_sources={names[file]}"]
            kept += [f"{name}={ast.unparse(value)}" for name, value in named.items() if name and name != "sources"]
            yield node, f"load_inline({', '.join(kept)})"


def _file(value: ast.expr, bound: Mapping[str, list[ast.expr]], names: Mapping[str, str]) -> str | None:
    """Return the one file behind the solution that an expression names; None where it names none or others too."""
    found: set[Any] = set()
    queue, seen = [value], set[str]()
    while queue:
        for node in ast.walk(queue.pop()):
            if isinstance(node, ast.Constant) and str(node.value).endswith(joined.SOURCES):
                found.add(node.value)
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                queue += bound.get(node.id, [])
    only = found.pop() if len(found) == 1 else None
    return only if only in names else None


def _edited(text: str, tree: ast.Module, edits: list[_Edit], head: str) -> str:
    """Return the text with those calls replaced, and with more lines behind its imports from `__future__`."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for node, new in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        left, right = node.col_offset, node.end_col_offset
        lines[start : end + 1] = [lines[start][:left] + new.encode() + lines[end][right:]]
    first = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    at = first[-1].end_lineno or 0 if first else 0
    return b"".join([*lines[:at], head.encode(), *lines[at:]]).decode()
