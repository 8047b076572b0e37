"""Python texts are parsed from several threads at once."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor

import pytest

from audit.model import python_text

NESTED = "x = " + "(" * 60 + "1" + " + f(y)[0])" * 60 + "\n"


def test_threads_get_whole_trees() -> None:
    texts = [NESTED * (1 + place % 5) for place in range(200)]
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(python_text.module, texts))
    assert [len(tree.body) for tree in trees] == [1 + place % 5 for place in range(200)]


def test_an_expression_is_told_from_a_statement() -> None:
    assert isinstance(python_text.expression("a + 1"), ast.BinOp)
    with pytest.raises(SyntaxError):
        python_text.expression("a = 1")
