"""Divisions and kernel arguments of Python sources, in the forms that `numbers` reads in CUDA C++.

Triton's `cdiv(K, SPLITS)` and `range(first, last, STEP)` divide a size, and a launch binds its arguments by position.
"""

from __future__ import annotations

import ast


def explicit(tree: ast.Module) -> ast.Module:
    """Return the tree with divisions in place of `cdiv` and of steps, and with names before a kernel's arguments."""
    kernels = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and _is_kernel(one))
    found: ast.Module = _Explicit({one.name: [each.arg for each in one.args.args] for one in kernels}).visit(tree)
    return found


class _Explicit(ast.NodeTransformer):
    """Args: kernels: the parameters of each, in order."""

    def __init__(self, kernels: dict[str, list[str]]) -> None:
        self._kernels = kernels

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite one call after its parts."""
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called == "cdiv" and len(node.args) == 2:
            return ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
        if called in ("range", "static_range") and len(node.args) == 3:
            node.args = [node.args[0], ast.BinOp(node.args[1], ast.FloorDiv(), node.args[2])]
        if isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
            names = self._kernels.get(node.func.value.id, [])[: len(node.args)]
            given = [ast.keyword(name, value) for name, value in zip(names, node.args, strict=False)]
            node.args, node.keywords = node.args[len(names) :], [*given, *node.keywords]
        return node


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(one) for one in function.decorator_list)
