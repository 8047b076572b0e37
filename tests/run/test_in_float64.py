"""Right results in float64 of references that themselves cast to a lower type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from audit.run.imported_task import ModuleTask
from audit.run.references.in_float64 import computed

QUANTISED = """
import torch

class Model(torch.nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.register_buffer("codes", torch.randint(16, (rows, columns), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(columns).to(torch.bfloat16))

    def forward(self, x):
        return x.to(torch.bfloat16) @ ((self.codes & 0xF).to(torch.bfloat16) * self.scales)

def get_inputs():
    return [torch.randn(8, 64, dtype=torch.bfloat16)]

def get_init_inputs():
    return [64, 32]
"""
X = torch.randn(4, 8, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
W = torch.rand(8, 2, generator=torch.Generator().manual_seed(4))
CASTS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "to": lambda x, w: x.to(torch.bfloat16) @ w,
    "to, named": lambda x, w: x.to(dtype=torch.float16) @ w,
    "to, as another": lambda x, w: x.to(torch.ones(1, dtype=torch.float32)) @ w,
    "bfloat16": lambda x, w: x.bfloat16() @ w,
    "half": lambda x, w: x.half() @ w,
    "float": lambda x, w: x.float() @ w,
    "type": lambda x, w: x.type(torch.float32) @ w,
    "made": lambda x, w: x @ torch.zeros(8, 2, dtype=torch.float32).add_(w),
    "computed": lambda x, w: torch.softmax(x, 1, dtype=torch.float32) @ w,
}


@pytest.mark.parametrize("name", CASTS)
def test_a_cast_to_a_lower_type_is_one_to_float64(name: str) -> None:
    def reference(given: list[torch.Tensor]) -> torch.Tensor:
        x, w = given
        return CASTS[name](x, w)

    expected = (torch.softmax(X, 1) if name == "computed" else X) @ W.double()
    got = computed(reference, [X, W])
    assert got.dtype == torch.float64
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


def test_float8_and_whole_numbers_stay_as_the_task_has_them() -> None:
    def reference(given: list[torch.Tensor]) -> torch.Tensor:
        x, w = given
        rounded = x.to(torch.float8_e4m3fn).to(torch.bfloat16) + (x * 4).to(torch.int8).to(torch.bfloat16)
        return rounded @ w

    expected = X.to(torch.float8_e4m3fn).double() + (X * 4).to(torch.int8).double()
    torch.testing.assert_close(computed(reference, [X, W]), expected @ W.double(), rtol=1e-12, atol=1e-12)


def test_numbers_are_drawn_as_the_file_draws_them() -> None:
    def reference(given: list[torch.Tensor]) -> torch.Tensor:
        torch.manual_seed(5)
        return given[0] @ torch.randn(8, 2, dtype=torch.float32)

    got = computed(reference, [X])
    torch.manual_seed(5)
    assert got.equal(X @ torch.randn(8, 2).double())


def test_a_reference_that_raises_nothing_is_called_once_and_as_it_is() -> None:
    calls = []

    def reference(given: list[torch.Tensor]) -> torch.Tensor:
        calls.append(given)
        return given[0].to(torch.bfloat16)

    assert computed(reference, [X]).dtype == torch.bfloat16
    assert len(calls) == 1


def bits(given: list[torch.Tensor]) -> torch.Tensor:
    return (given[0].to(torch.bfloat16).view(torch.int16) >> 7).to(torch.bfloat16) @ given[1]


def of_two_sizes(given: list[torch.Tensor]) -> torch.Tensor:
    return given[0].to(torch.bfloat16) @ given[1][1:]


def test_bits_of_a_rounded_number_have_no_result_in_float64() -> None:
    with pytest.raises(RuntimeError, match="same dtype"):
        computed(bits, [X, W])


def test_another_error_stays_the_error() -> None:
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        computed(of_two_sizes, [X, W])


def test_a_module_of_packed_weights_agrees_within_the_rounding_of_bfloat16(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    path = tmp_path / "original" / "reference.py"
    path.write_text(QUANTISED, encoding="utf-8")
    task = ModuleTask(path)
    arguments = task.inputs({}, torch.Generator().manual_seed(1))
    result, right = task.reference(*arguments), task.oracle(*arguments)
    assert (result.dtype, right.dtype) == (torch.bfloat16, torch.float64)
    assert float((result.double() - right).norm() / right.norm()) < 2**-8
    assert float((result.double() - right).norm()) > 0
