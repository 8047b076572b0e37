"""CUDA sources that a Python file carries in string constants, for inline extensions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

_MARK = "__global__"


@dataclass(frozen=True)
class Embedded:
    """One CUDA source and where it stands.

    Args:
        text: the value of the constant.
        first_line: the line of the file that holds its first line.
        last_line: the line of the file that holds its end.
    """

    text: str
    first_line: int
    last_line: int

    def line(self, line: int) -> int:
        """The line of the file for a line of the CUDA source; the first one where escapes hide line breaks."""
        whole = self.text.count("\n") == self.last_line - self.first_line
        return self.first_line + line - 1 if whole else self.first_line


def embedded_cuda(text: str, tree: ast.Module) -> list[Embedded]:
    """Every string constant that defines a kernel, in order."""
    if _MARK not in text:
        return []
    return [
        Embedded(node.value, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _MARK in node.value
    ]
