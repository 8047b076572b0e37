"""How much work an imported task is, and at which sizes that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.run.imported_functions import FunctionTask
from audit.run.references.work import ELEMENT_COST, Sizes, weighed

TASK = """
import torch
N = 1024
M = 1024
K = 1024

def get_inputs():
    return [torch.randn(N, K), torch.randn(K, M)]

def reference(a, b):
    return {result}
"""


def work(tmp_path: Path, result: str, **sizes: int) -> int | None:
    file = tmp_path / "task.py"
    file.write_text(TASK.format(result=result), encoding="utf-8")
    return FunctionTask(file, function="reference").work({"N": 1, "M": 1, "K": 1, **sizes})


def test_products_and_outputs_are_counted(tmp_path: Path) -> None:
    assert work(tmp_path, "a @ b", N=4, M=8, K=16) == ELEMENT_COST * (4 * 16 + 16 * 8 + 4 * 8) + 4 * 8 * 16
    assert work(tmp_path, "a + b", N=4, M=4, K=4) == ELEMENT_COST * 3 * 16


def test_convolutions_are_counted(tmp_path: Path) -> None:
    result = "torch.nn.functional.{name}(a[None, None], b.view(1, 1, 3, 3).repeat({filters}))"
    made = 34 * 34 + 34 * 9 + 5 * 9
    text = result.format(name="conv2d", filters="5, 1, 1, 1").replace("b.view", "b[:1].view")
    assert work(tmp_path, text, N=34, M=9, K=34) == ELEMENT_COST * (made + 5 * 32 * 32) + 5 * 32 * 32 * 9
    text = result.format(name="conv_transpose2d", filters="1, 5, 1, 1").replace("b.view", "b[:1].view")
    assert work(tmp_path, text, N=34, M=9, K=34) == ELEMENT_COST * (made + 5 * 36 * 36) + 34 * 34 * 5 * 9


@pytest.mark.parametrize(
    ("result", "products"),
    [
        ("torch.nn.functional.linear(a, b.T)", 4 * 8 * 16),
        ("torch.bmm(a[None], b[None])", 4 * 8 * 16),
        ("torch.addmm(torch.zeros(8), a, b)", 4 * 8 * 16 + ELEMENT_COST * 8),
        ("torch.einsum('nk,km->nm', a, b)", 4 * 8 * 16),
    ],
)
def test_every_way_to_write_a_product(tmp_path: Path, result: str, products: int) -> None:
    assert work(tmp_path, result, N=4, M=8, K=16) == ELEMENT_COST * (4 * 16 + 16 * 8 + 4 * 8) + products


def test_a_task_that_raises_has_no_known_work(tmp_path: Path) -> None:
    assert work(tmp_path, "a + b", N=4, M=2, K=3) is None


def test_the_smallest_is_weighed_first_and_nothing_that_is_certainly_too_much() -> None:
    asked = []

    def cubed(shape: Sizes) -> int:
        asked.append(shape["n"])
        return shape["n"] ** 3

    shapes = [{"n": 4096}, {"n": 256}, {"n": 64}, {"n": 16}]
    assert list(weighed(shapes, 1 << 20, work=cubed)) == [16**3, 64**3, 256**3, None]
    assert asked == [16, 64, 256]


def test_what_is_not_known_does_not_hide_what_is() -> None:
    shapes = [{"n": 8}, {"n": 4}, {"n": 2}]
    assert list(weighed(shapes, 100, work=lambda shape: None if shape["n"] < 8 else 8)) == [None, None, 8]
