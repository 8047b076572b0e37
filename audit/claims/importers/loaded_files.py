"""C++ and CUDA files that a Python source loads by `load`, or reads: their texts stand in the place of those calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from audit.claims.importers import entries, joined
from audit.claims.python_text import PythonText
from audit.review.python_tree import last_name

ADDED = "the files that it loads, in the place of the import or the call that loads each"
_BUILDER = "torch.utils.cpp_extension"
_LOAD = f"from {_BUILDER} import load_inline\n"
_PARAMETERS = (
    "name", "sources", "extra_cflags", "extra_cuda_cflags", "extra_ldflags", "extra_include_paths", "build_directory",
    "verbose",
)  # fmt: skip
"""Of torch's `load`, in order (its documentation); `load_inline` takes all but the sources by the same names."""
_Edit = tuple[ast.Call | ast.ImportFrom, str]


def mentioned(tree: ast.AST, files: Mapping[str, str]) -> dict[str, int]:
    """Return the sources among the files that a text of the tree names, with the line of the first."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and (file := _named(node.value, files)) is not None:
            found.setdefault(file, node.lineno)
    return found


def calls(tree: ast.AST) -> list[int]:
    """Return the lines that call torch's `load`, which builds an extension from files."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == _BUILDER]
    plain = any(alias.name == "load" and alias.asname is None for node in imports for alias in node.names)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and last_name(node.func) == "load"
        and (
            any(one.arg == "sources" for one in node.keywords)
            or "cpp_extension" in ast.unparse(node.func)
            or (plain and isinstance(node.func, ast.Name))
        )
    ]


def in_place(source: PythonText, files: Mapping[str, str]) -> tuple[str, set[str]]:
    """Return the text of the source with those of the files that it loads, and which these are, with their includes.

    Args:
        source: the Python source.
        files: texts of C++, CUDA and header files by their names.
    """
    found = _Loads(source.tree, files)
    edits = list(found.edits())
    texts = "".join(f"{name} = {entries.literal(found.text(group))}\n" for group, name in found.names.items())
    used = {name for group in found.names for file in group for name in (file, *joined.used(files, file))}
    return (_edited(source.text, source.tree, edits, f"{_LOAD}{texts}") if found.names else source.text), used


class _Loads:
    """The calls of one source that load files; `names` are those of the texts in our lines, by the files in each."""

    def __init__(self, tree: ast.Module, files: Mapping[str, str]) -> None:
        self._tree, self._files = tree, files
        self.names: dict[tuple[str, ...], str] = {}
        self._bound: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._bound.setdefault(node.targets[0].id, []).append(node.value)

    def edits(self) -> Iterator[_Edit]:
        """Yield the calls that load files and imports of `load`, and what stands in their place."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and node.module == _BUILDER:
                aliases = [ast.alias("load_inline") if one.name == "load" else one for one in node.names]
                yield node, ast.unparse(ast.ImportFrom(_BUILDER, aliases, 0))
            elif isinstance(node, ast.Call) and (new := self._replaced(node)) is not None:
                yield node, new

    def text(self, group: tuple[str, ...]) -> str:
        """Return the texts of those files as one, with their local includes in place."""
        kept = {name: self._files[name] for file in group for name in (file, *joined.used(self._files, file))}
        return joined.joined(kept) if len(kept) > 1 else kept[group[0]]

    def _replaced(self, node: ast.Call) -> str | None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "read_text":
            group = self._group(node.func.value)
            return self._name(group) if len(group) == 1 else None
        positional = node.args if last_name(node.func) == "load" else []
        named = dict(zip(_PARAMETERS, positional, strict=False)) | {one.arg: one.value for one in node.keywords}
        group = self._group(named["sources"]) if "sources" in named else ()
        if not group:
            return None
        kept = [] if positional else list(map(ast.unparse, node.args))
        kept += [f"name={ast.unparse(named['name'])}"] if "name" in named else []
        kept += ["cpp_sources=''", f"cuda_sources={self._name(group)}"]
        others = {key: ast.unparse(one) for key, one in named.items() if key not in ("name", "sources")}
        kept += [f"{key}={one}" if key else f"**{one}" for key, one in others.items()]
        return f"load_inline({', '.join(kept)})"

    def _name(self, group: tuple[str, ...]) -> str:
        return self.names.setdefault(group, f"_SIDECAR_{len(self.names) + 1}")

    def _group(self, value: ast.expr) -> tuple[str, ...]:
        """Return the files that an expression names; none where it names another source too."""
        found: dict[str | None, None] = {}
        queue, seen = [value], set[str]()
        while queue:
            for node in ast.walk(queue.pop()):
                if isinstance(node, ast.Constant) and str(node.value).endswith(joined.SOURCES):
                    found[_named(node.value, self._files)] = None
                if isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    queue += self._bound.get(node.id, [])
        return () if None in found else tuple(sorted(filter(None, found)))


def _named(value: object, files: Mapping[str, str]) -> str | None:
    """Return the one source among the files whose name ends a text; None for other values."""
    if not isinstance(value, str) or not value.endswith(joined.SOURCES):
        return None
    ends = [name for name in files if f"/{name}".endswith(f"/{value.lstrip('./')}")]
    ends = ends or [name for name in files if PurePath(name).name == PurePath(value).name]
    return ends[0] if len(ends) == 1 else None


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
