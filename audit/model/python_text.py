"""Parse Python texts, one at a time and without the parser's warnings about escapes in them."""

from __future__ import annotations

import ast
import warnings
from threading import Lock

_one_at_a_time = Lock()
"""CPython 3.11 counts the depth of all threads' trees together, and raises SystemError where two parse at once."""


def module(text: str) -> ast.Module:
    """Return the tree of a file's text. Raises as `ast.parse`."""
    with _one_at_a_time, warnings.catch_warnings(action="ignore"):
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """Return the tree of an expression. Raises as `ast.parse`."""
    with _one_at_a_time:
        return ast.parse(text, mode="eval").body
