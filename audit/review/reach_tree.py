"""A Python source for `reach`: every node of it, and what its names stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from audit.review.python_reading import PythonReading
from audit.review.python_tree import FunctionNode, imports, inside, path, stored_names

_MAIN = "__name__ == '__main__'"


_TEST = re.compile(r"(?:test|bench|main)\w*")


class Tree(PythonReading):
    """A parsed source without what does not run: the body of `if __name__ == "__main__"`, since a variant has another
    name, and that of a test which nothing else in the file names, as a name, an attribute or within a text."""

    def __init__(self, text: str, entry: str = "") -> None:
        super().__init__(text)
        self._locals: dict[ast.AST, set[str]] = {}
        plain = (one for one in self.tree.body if isinstance(one, FunctionNode) and not one.decorator_list)
        tests = {one.name: one for one in plain if _TEST.fullmatch(one.name) and one.name != entry}
        names = _names(self._walked(tests))
        while named := tests.keys() & names:
            names = _names(node for name in named for node in ast.walk(tests.pop(name)))
        self.every = self._walked(tests)

    def _walked(self, tests: Mapping[str, ast.AST]) -> list[ast.AST]:
        """Return every node, outer ones first, of those tests what is evaluated where they are defined."""
        found: list[ast.AST] = [self.tree]
        for node in found:  # grows while it is walked
            if isinstance(node, FunctionNode) and node is tests.get(node.name):
                found += [node.args, *([node.returns] if node.returns else [])]
            elif isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN:
                found += node.orelse
            else:
                found += ast.iter_child_nodes(node)
        return found

    @cached_property
    def bound(self) -> dict[str, str]:
        """The dotted names that plain names stand for: imports anywhere in the file, and what is bound to those."""
        found = imports(self.every)
        for node in self.every:
            if isinstance(node, ast.Assign) and (full := _resolved(node.value, found)):
                found |= {one.id: full for one in node.targets if isinstance(one, ast.Name)}
        return found

    def dotted(self, node: ast.AST) -> str:
        """Return the dotted name of an expression that begins at an import; empty for any other."""
        return _resolved(node, self.bound)

    def is_followed(self, node: ast.AST) -> bool:
        """Return whether a statement binds plain names to the node, or a call of `getattr` looks into it."""
        above = self.above[node]
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name):
            return above.func.id in ("getattr", "hasattr") and above.args[:1] == [node]
        return isinstance(above, ast.Assign) and all(isinstance(one, ast.Name) for one in above.targets)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """Attributes and names that the source itself stores or defines."""
        stored = {one.attr for one in self.every if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)}
        defined = {one.name for one in self.every if isinstance(one, FunctionNode | ast.ClassDef)}
        return frozenset(stored | defined | stored_names(self.every).keys())

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """Attributes that methods of the source use of their own objects."""
        used = (one for one in self.every if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name))
        return frozenset(one.attr for one in used if self.is_own(one.value))

    @cached_property
    def _own_classes(self) -> frozenset[str]:
        defined = {one.name for one in self.every if isinstance(one, ast.ClassDef)}
        return frozenset(defined - stored_names(self.every).keys() - self.bound.keys())

    def is_own(self, node: ast.AST) -> bool:
        """Return whether an expression begins at a class of the file or the first parameter of the method around it."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        if node.id in self._own_classes:
            return True
        for one in self.ancestors(node):
            if isinstance(one, FunctionNode) and isinstance(self.above[one], ast.ClassDef):
                given = [*one.args.posonlyargs, *one.args.args]
                return bool(given) and given[0].arg == node.id
        return False

    def is_local(self, node: ast.Name) -> bool:
        """Return whether a function around binds the name, so that it cannot be Python's own."""
        functions = (one for one in self.ancestors(node) if isinstance(one, FunctionNode | ast.Lambda))
        return any(node.id in self._locals_of(one) for one in functions)

    def _locals_of(self, function: ast.AST) -> set[str]:
        if function not in self._locals:
            given = {one.arg for one in inside(function, ast.arg)}
            outer = {name for one in inside(function, ast.Global) for name in one.names}
            self._locals[function] = (given | stored_names(ast.walk(function)).keys()) - outer
        return self._locals[function]


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names, attributes and words of texts among nodes."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Constant(value=str(text)):
                found.update(re.findall(r"\w+", text))
    return found


def _resolved(node: ast.AST, bound: dict[str, str]) -> str:
    root, attributes = path(node)
    return ".".join([bound[root.id], *attributes]) if isinstance(root, ast.Name) and root.id in bound else ""
