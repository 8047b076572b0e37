"""A Python source for `reach`: every node of it, and what its names stand for."""

from __future__ import annotations

import ast
from functools import cached_property

from audit.review.python_reading import PythonReading
from audit.review.python_tree import FunctionNode, imports, inside, path, stored_names

_MAIN = "__name__ == '__main__'"


class Tree(PythonReading):
    """A parsed source without the body of `if __name__ == "__main__"`, since a variant has another name."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._locals: dict[ast.AST, set[str]] = {}
        self.every: list[ast.AST] = [self.tree]
        for node in self.every:  # grows while it is walked
            self.every += (
                node.orelse
                if isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN
                else ast.iter_child_nodes(node)
            )

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


def _resolved(node: ast.AST, bound: dict[str, str]) -> str:
    root, attributes = path(node)
    return ".".join([bound[root.id], *attributes]) if isinstance(root, ast.Name) and root.id in bound else ""
