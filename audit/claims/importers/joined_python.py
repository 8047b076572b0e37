"""Several Python files as the one source of a variant: what a file imports from those beside it stands in its place."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from audit.claims.python_text import PythonText, bound_by, imported_by
from audit.model.errors import BadInput

Place = Callable[[str, str, int], str | None]
"""Returns the file of a module that a file imports, with the dots before its name; None: it is none of these files."""
ADDED = "the statements it needs of the files beside it, in the place of the imports from them"
Import = ast.Import | ast.ImportFrom


def place_in(names: Collection[str]) -> Place:
    """Return how modules are found among files: beside the importing file, or from the folder that was given."""

    def place(file: str, module: str, level: int) -> str | None:
        beside = posixpath.dirname(file)
        roots = [posixpath.join(beside, *[".."] * (level - 1))] if level else [beside, ""]
        path = module.replace(".", "/")
        ways = [posixpath.join(root, f"{path}{end}") for root in roots for end in (".py", "/__init__.py")]
        return next((found for found in map(posixpath.normpath, ways) if found in names and found != file), None)

    return place


def in_one(name: str, names: Collection[str], read: Callable[[str], bytes]) -> tuple[bytes, tuple[str, ...]]:
    """Return a file with what it imports from the others, and which these are; alone it stays as it is. Raises
    BadInput: see `Joined.whole`."""
    joined = Joined(read, place_in(names))
    text = joined.whole(name)
    others = tuple(one for one in joined.files if one != name)
    return (text.encode() if others else read(name)), others


class Joined:
    """The statements of several files that names need, in one text.

    Args:
        read: returns the bytes of a file by its name.
        place: see `Place`.
        stands: a module whose names stand in the text already; `asked` says whether one is needed.
    """

    def __init__(self, read: Callable[[str], bytes], place: Place, *, stands: str | None = None) -> None:
        self._read, self._place, self._stands = read, place, stands
        self._holders: dict[str, tuple[str, str]] = {}
        self._taken: set[tuple[str, str]] = set()
        self._modules: dict[str, set[str]] = {}
        self.files: dict[str, PythonText] = {}
        self.texts: dict[tuple[str, int], str] = {}
        self.asked = False

    def whole(self, file: str) -> str:
        """Return the text of a file, as it is but for its imports from the others. Raises BadInput: an import within a
        function, one name in two files, or a module that is used as a value."""
        body = self._text(file).tree.body
        lines, found, done = self._text(file).text.splitlines(), list[str](), 0
        for node in body:
            self._hold(node, file)
        for node in body:
            replaced = self._replaced(node, file, body)
            if replaced is not None:
                start, end = _lines(node)
                if sum(_lines(one)[0] <= end and start <= _lines(one)[1] for one in body) > 1:
                    raise BadInput(f"{file}: line {start} holds two statements; write each on a line of its own")
                found += [*lines[done : start - 1], *replaced]
                done = end
        return "\n".join([*found, *lines[done:], ""])

    def take(self, file: str, names: Collection[str]) -> None:
        """Put the statements that those names of a file need into `texts`, behind those of what it imports. Raises
        BadInput: no such name, or what `whole` raises."""
        text = self._text(file)
        names = {name for name in names if (file, name) not in self._taken}
        self._taken |= {(file, name) for name in names}
        asked = ast.Tuple([ast.Name(name, ast.Load()) for name in sorted(names)], ast.Load())
        reached = text.reached(asked)
        if unknown := set(names) - reached:
            raise BadInput(f"{file}: binds no {min(unknown)}")
        needed = text.needed(asked)
        for node in self._tried(needed, file):
            self._refuse_inner(node, file)
            self._hold(node, file)
            self.texts[file, node.lineno] = self._statement(node, file, needed, reached)

    def _text(self, file: str) -> PythonText:
        if file not in self.files:
            self.files[file] = text = PythonText(self._read(file), where=file)
            self._name_stars(text, file)
        return self.files[file]

    def _name_stars(self, text: PythonText, file: str) -> None:
        """Put the names that the file uses in the place of `*` in imports from the others."""
        used = {one.id for one in ast.walk(text.tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        for node in text.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and (source := self._source(node, file)):
                bound = dict.fromkeys(name for one in self._text(source).tree.body for name in sorted(bound_by(one)))
                node.names = [ast.alias(name) for name in bound if name in used and not name.startswith("_")]

    def _hold(self, node: ast.stmt, file: str) -> None:
        """Raise BadInput where another file binds a name of the statement, but to the same constant."""
        for name in bound_by(node) - imported_by(node):
            holder, same = self._holders.setdefault(name, (file, ast.dump(node)))
            alike = isinstance(node, ast.Assign) and _is_constant(node.value) and same == ast.dump(node)
            if holder != file and not alike:
                raise BadInput(f"{file}: binds {name}, as {holder} does; rename one of them")

    def _replaced(self, node: ast.stmt, file: str, body: Sequence[ast.stmt]) -> list[str] | None:
        """Return what stands in the place of a statement of the whole file; None where it stays."""
        inner = list(self._tried([node], file))
        if inner == [node] and not self._is_local(node, file):
            self._refuse_inner(node, file)
            plain = self._plain(node, file)
            return None if ast.dump(plain) == ast.dump(node) else [ast.unparse(plain)]
        found: list[str] = []
        for one in inner:
            before = set(self.texts)
            own = self._statement(one, file, body, None)
            found += [*(text for key, text in self.texts.items() if key not in before), own]
        return found

    def _refuse_inner(self, node: ast.stmt, file: str) -> None:
        if not isinstance(node, Import) and any(self._is_local(one, file) for one in ast.walk(node)):
            raise BadInput(f"{file}: line {node.lineno} imports within a function; import at the top")

    def _tried(self, nodes: Iterable[ast.stmt], file: str) -> Iterator[ast.stmt]:
        """Yield statements; of a `try` around imports from these files those that it tries: none of them can fail."""
        for node in nodes:
            inner = node.body if isinstance(node, ast.Try) else []
            yield from inner if any(self._is_local(one, file) for one in inner) else [node]

    def _is_local(self, node: ast.AST, file: str) -> bool:
        """Return whether a node imports from these files."""
        if not isinstance(node, Import):
            return False
        if isinstance(node, ast.ImportFrom) and (node.level or self._source(node, file)):
            return True
        return any(self._module(node, alias, file) for alias in node.names)

    def _source(self, node: Import, file: str) -> str | None:
        """Return the file whose names are imported."""
        return self._place(file, node.module, node.level) if isinstance(node, ast.ImportFrom) and node.module else None

    def _module(self, node: Import, alias: ast.alias, file: str) -> str | None:
        """Return the file that is imported as a module."""
        if isinstance(node, ast.Import):
            return self._place(file, alias.name, 0)
        return self._place(file, f"{node.module}.{alias.name}" if node.module else alias.name, node.level)

    def _statement(self, node: ast.stmt, file: str, body: Sequence[ast.stmt], reached: set[str] | None) -> str:
        """Return a statement as it stands in the joined text, once what it imports has been taken; all of it is where
        `reached` is None."""
        if not isinstance(node, Import) or not self._is_local(node, file):
            return f"{ast.unparse(self._plain(node, file))}\n"
        if isinstance(node, ast.ImportFrom) and node.module and node.module == self._stands:
            self.asked = True
            return _renamed(node.names)
        lines: list[str] = []
        for alias in node.names:
            if module := self._module(node, alias, file):
                lines += self._of_module(module, alias, file, body)
            elif reached is None or (alias.asname or alias.name) in reached:
                source = self._source(node, file)
                if source is None:
                    what = f"imports {alias.name}, which is not beside it; give its file and import by name"
                    raise BadInput(f"{file}: line {node.lineno} {what}")
                self.take(source, [alias.name])
                lines.append(_renamed([alias]))
        return "\n".join(filter(None, lines))

    def _of_module(self, module: str, alias: ast.alias, file: str, body: Sequence[ast.stmt]) -> list[str]:
        """Return lines that bind what those statements use of a module, and take it."""
        name, nodes = alias.asname or alias.name, [one for node in body for one in ast.walk(node)]
        used = [one for one in nodes if isinstance(one, ast.Name) and one.id == name]
        wanted = [one.attr for one in nodes if isinstance(one, ast.Attribute) and one.value in used]
        if len(used) != len(wanted) or "." in name:
            raise BadInput(f"{file}: uses the module {name} otherwise than as {name}.NAME; import its names")
        self.take(module, wanted)
        return [f"{name}_{one} = {one}" for one in dict.fromkeys(wanted)]

    def _plain(self, node: ast.stmt, file: str) -> ast.stmt:
        """Return a statement with names in the place of `module.NAME`, where a module of these files is meant."""
        if file not in self._modules:
            imports = [one for one in self._text(file).tree.body if isinstance(one, Import)]
            pairs = ((alias, self._module(one, alias, file)) for one in imports for alias in one.names)
            self._modules[file] = {alias.asname or alias.name for alias, module in pairs if module}
        if not self._modules[file]:
            return node
        plain: ast.stmt = _Plain(self._modules[file]).visit(ast.parse(ast.unparse(node)).body[0])
        return plain


class _Plain(ast.NodeTransformer):
    """Puts `module_NAME` in the place of `module.NAME`."""

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # the parser's name
        """Return the name for an attribute of a module."""
        if isinstance(node.value, ast.Name) and node.value.id in self._modules:
            return ast.Name(f"{node.value.id}_{node.attr}", node.ctx)
        return self.generic_visit(node)


def _lines(node: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a statement, its decorators included."""
    first = min(one.lineno for one in (node, *getattr(node, "decorator_list", [])))
    return first, node.end_lineno or node.lineno


def _renamed(names: Iterable[ast.alias]) -> str:
    return "\n".join(f"{one.asname} = {one.name}" for one in names if one.asname and one.asname != one.name)


def _is_constant(node: ast.expr) -> bool:
    """Return whether an expression has one value in all files: a constant, or what torch or Triton says of the GPU."""
    calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    plain = all(
        isinstance(one, ast.Constant | ast.Name | ast.Attribute | ast.Call | ast.Load) for one in ast.walk(node)
    )
    return plain and all(ast.unparse(one).startswith(("torch.", "triton.")) for one in calls)
