"""What a module binds once, alone or side by side, and what it does not."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from audit.review.python_constants import Constants, NotConstant


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


@pytest.mark.parametrize(("expression", "expected"), [("1 << 21", 2097152), ("(1 << 4) + 1", 17), ("3 << 2 << 1", 24)])
def test_integers_that_are_written_as_shifts(expression: str, expected: int) -> None:
    assert value("", expression) == expected


@pytest.mark.parametrize("expression", ["1 << -1", "1 << 10**9", "1.5 << 2", "1 << 2.0", "'a' << 1"])
def test_a_shift_that_is_no_integer_of_usual_size_is_no_constant(expression: str) -> None:
    with pytest.raises(NotConstant):
        value("", expression)


@pytest.mark.parametrize("module", ["h, w = sizes", "h, w = 1, 2, 3", "h, w = 1, 2\nh = 3"])
def test_what_does_not_stand_side_by_side_is_not_guessed(module: str) -> None:
    with pytest.raises(NotConstant):
        value(module, "h")


@pytest.mark.parametrize(
    ("module", "known"),
    [
        ("if here:\n    try:\n        h = 1\n    except OSError:\n        pass\n", True),
        ("if here:\n    h = 1\nelse:\n    h = 2\n", False),
        ("class A:\n    h = 1\n", False),
    ],
)
def test_names_bound_in_a_block_of_the_top_level(module: str, known: bool) -> None:
    tree, name = ast.parse(module), ast.parse("h", mode="eval").body
    with pytest.raises(NotConstant):
        Constants(tree).value(name)
    if known:
        assert Constants(tree, in_blocks=True).value(name) == 1
    else:
        with pytest.raises(NotConstant):
            Constants(tree, in_blocks=True).value(name)


def within(body: str, *, module: str = "", after: str = "") -> str:
    """What `text` is inside a function whose body this is."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    tree = ast.parse(f"{module}\ndef f(self, given):\n{lines}\n{after}")
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    return str(Constants(tree, within=[function]).value(ast.parse("text", mode="eval").body))


@pytest.mark.parametrize(
    ("module", "body", "after"),
    [
        ("", "text = 'a'", ""),
        ("", "try:\n    text = 'a'\nexcept OSError:\n    pass", ""),
        ("text = 'b'", "text = 'a'", ""),
        ("text = 'a'", "other = 'b'", ""),
        ("", "text = 'a'", "def g():\n    text = 'b'\n"),
        ("name = 'a'", "text = name", ""),
        ("", "self.kept = 'a'\ntext = self.kept", ""),
    ],
)
def test_a_function_reads_its_own_names_first(module: str, body: str, after: str) -> None:
    assert within(body, module=module, after=after) == "a"


@pytest.mark.parametrize(
    "body",
    [
        "text = 'a'\ntext = 'b'",
        "text = 'a'\ntext += 'b'",
        "for text in 'ab':\n    pass",
        "text = given",
        "text = self.kept\nself.kept = 'a'\nself.kept = 'b'",
        "text = other.kept\nother.kept = 'a'",
    ],
)
def test_what_a_function_binds_in_another_way_is_not_guessed(body: str) -> None:
    with pytest.raises(NotConstant):
        within(body, module="text, given = 'b', 'c'")
