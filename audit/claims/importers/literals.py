"""Python literals in the cells of a table, as some archives hold their profiles: read with bounds, never run."""

from __future__ import annotations

import ast
import warnings
from typing import Any

MOST_CHARACTERS = 2_000_000
DEEPEST = 60


class NoLiteral(ValueError):
    """The text is no literal of bounded size; the message says why."""


def read(text: str) -> Any:
    """The value: numbers, texts, None, and lists, tuples, sets and dicts of them.

    Raises:
        NoLiteral: too long, nested too deeply, or no literal.
    """
    if len(text) > MOST_CHARACTERS:
        raise NoLiteral(f"{len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise NoLiteral(f"{deepest} brackets within each other; at most {DEEPEST} are read")
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.literal_eval(text)
    except SyntaxError as error:
        raise NoLiteral(f"no Python literal (line {error.lineno}: {error.msg})") from error
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise NoLiteral("no Python literal") from error
