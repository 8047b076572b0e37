"""What a case tells of its reference: the usual size of a result of few elements, and what is as right at ties."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit.run.problem import FEW, Problem


def problem(oracle: Any, elements: int = 4096) -> Problem:
    reference = SimpleNamespace(
        inputs=lambda shape, generator: [torch.randn(shape["N"], generator=generator)],
        oracle=oracle,
        reference=lambda x: oracle(x).float(),
    )
    values = [torch.randn(elements, generator=torch.Generator().manual_seed(1))]
    return Problem(cast(Any, reference), values, {"N": elements}, device="cpu")


def test_a_sum_has_the_size_that_sums_usually_have() -> None:
    size = problem(lambda x: x.double().sum()).size
    assert math.sqrt(4096) / 4 < size < 4 * math.sqrt(4096)


def test_a_result_of_many_elements_is_its_own_measure() -> None:
    assert problem(lambda x: x.double()[: FEW + 1]).size == 0.0


@pytest.mark.parametrize("other", [math.inf, math.nan])
def test_what_is_not_finite_has_no_size(other: float) -> None:
    assert problem(lambda x: x.double().sum() * 0 + other).size == 0.0


def test_the_same_case_has_the_same_size() -> None:
    one, other = (problem(lambda x: x.double().mean()) for _ in range(2))
    assert one.size == other.size > 0.0


def test_what_is_asked_for_often_is_computed_once() -> None:
    calls: list[int] = []

    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x.double() * 2

    case = problem(counted)
    other = [torch.ones(4)]
    for values, computed in ((case.values, 1), (case.others, 1), (other, 3)):
        calls.clear()
        assert all(torch.equal(case.oracle(values), values[0].double() * 2) for _ in range(3))
        assert len(calls) == computed
    case.hold(other)
    calls.clear()
    assert case.oracle(other) is case.oracle(other)
    assert len(calls) == 1
