"""What a module binds once, alone or side by side, and what it does not."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from audit.python_constants import Constants, NotConstant


def value(module: str, expression: str) -> Any:
    return Constants(ast.parse(module)).value(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    ("module", "expression", "expected"),
    [
        ("h, w = 32, 64", "[h, w]", [32, 64]),
        ("n = 4\nh, w = n, n * 2", "w", 8),
        ("h, (a, b) = 1, (2, 3)", "h", 1),
    ],
)
def test_names_bound_side_by_side(module: str, expression: str, expected: Any) -> None:
    assert value(module, expression) == expected


@pytest.mark.parametrize("module", ["h, w = sizes", "h, w = 1, 2, 3", "h, w = 1, 2\nh = 3"])
def test_what_does_not_stand_side_by_side_is_not_guessed(module: str) -> None:
    with pytest.raises(NotConstant):
        value(module, "h")
