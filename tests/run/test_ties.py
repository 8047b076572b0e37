"""Which right results hang on ties between inputs, and what is as right there."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from audit.run import ties

DRAWN = torch.randn(200, 30, generator=torch.Generator().manual_seed(5))


def argmax(values: list[Any]) -> torch.Tensor:
    return values[0].double().argmax(dim=1).double()


def argsort(values: list[Any]) -> torch.Tensor:
    return values[0].double().argsort(dim=1).double()


def test_drawn_numbers_have_no_ties_to_hang_on() -> None:
    want = argmax([DRAWN])
    assert ties.alternatives(argmax, [DRAWN], want, seed=1) == []
    assert ties.needed(argmax, [DRAWN], want, seed=1) == 0.0


def test_two_equal_largest_numbers_are_both_right() -> None:
    tied = DRAWN.clone()
    tied[7, 3] = tied[7, 20] = 99.0
    want = argmax([tied])
    one, other = ties.alternatives(argmax, [tied], want, seed=1)
    assert {float(one[7]), float(other[7])} == {3.0, 20.0}
    assert torch.equal(one[:7], want[:7])


@pytest.mark.parametrize("function", [argmax, argsort])
@pytest.mark.parametrize("number", [0.0, 2.5, -1.5])
def test_rows_of_equal_numbers_hang_on_ties_and_count_as_meant(function: Any, number: float) -> None:
    tied = torch.full((200, 30), number)
    want = function([tied])
    assert ties.needed(function, [tied], want, seed=1) != 0.0
    assert ties.alternatives(function, [tied], want, seed=1) == []


def test_a_function_without_steps_needs_next_to_nothing() -> None:
    def energy(values: list[Any]) -> torch.Tensor:
        return values[0].double().square().sum(dim=1)

    need = ties.needed(energy, [DRAWN], energy([DRAWN]), seed=1)
    assert need is not None
    assert 0.0 < need < 1e-9


def test_neighbours_in_float32_keep_their_order() -> None:
    close = torch.tensor([[1.0, torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)).item(), 0.5]])
    for seed in range(20):
        assert ties.needed(argmax, [close], argmax([close]), seed) == 0.0


def test_a_reference_that_takes_no_float64_says_nothing_of_ties() -> None:
    def bits(values: list[Any]) -> torch.Tensor:
        if values[0].dtype != torch.float32:
            raise TypeError("float32 alone")
        return values[0].view(torch.int32).double()

    assert ties.alternatives(bits, [DRAWN], bits([DRAWN]), seed=1) == []
    assert ties.needed(bits, [DRAWN], bits([DRAWN]), seed=1) is None
