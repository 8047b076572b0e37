"""Which right results hang on ties between inputs, and what is as right there."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from audit.run.inputs import ties

DRAWN = torch.randn(200, 30, generator=torch.Generator().manual_seed(5))


def argmax(values: list[Any]) -> torch.Tensor:
    return values[0].double().argmax(dim=1).double()


def argsort(values: list[Any]) -> torch.Tensor:
    return values[0].double().argsort(dim=1).double()


def moves(oracle: Any, values: list[Any], seed: int = 1, *, breaks_ties: bool = True) -> ties.Moves:
    return ties.Moves(oracle, values, oracle(values), seed, breaks_ties)


def test_drawn_numbers_have_no_ties_to_hang_on() -> None:
    assert moves(argmax, [DRAWN]).alternatives(own=True) == []
    assert moves(argmax, [DRAWN]).needed() == 0.0


def test_equal_numbers_that_move_alike_stay_equal_in_every_tensor() -> None:
    def share(values: list[Any]) -> torch.Tensor:
        return (values[0].double()[:, None] > values[1].double()).double().mean(1)

    def total(values: list[Any]) -> torch.Tensor:
        return (values[0].double() + values[1].double() > 3.0).double()

    one, other = (torch.randint(1, 4, (200,), generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    values = [one.float(), other.float()]
    for oracle, alike, stands in ((share, True, True), (share, False, False), (total, True, False)):
        need = ties.Moves(oracle, values, oracle(values), 1, breaks_ties=False, alike=alike).needed(ties.ROUNDED_BY)
        assert (need is not None and need < 1e-6) is stands


def test_two_equal_largest_numbers_are_both_right() -> None:
    tied = DRAWN.clone()
    tied[7, 3] = tied[7, 20] = 99.0
    found = moves(argmax, [tied])
    others = found.alternatives(own=True)
    assert {float(one[7]) for one in (found.want, *others)} == {3.0, 20.0}
    assert all(torch.equal(one[:7], found.want[:7]) for one in others)


@pytest.mark.parametrize("function", [argmax, argsort])
@pytest.mark.parametrize("number", [0.0, 2.5, -1.5])
def test_rows_of_equal_numbers_hang_on_ties_and_count_as_meant(function: Any, number: float) -> None:
    tied = torch.full((200, 30), number)
    assert moves(function, [tied]).needed() != 0.0
    assert moves(function, [tied]).alternatives(own=True) == []
    with pytest.raises(ties.Tied, match="of the right result hang on ties"):
        moves(function, [tied]).alternatives(own=False)


@pytest.mark.parametrize("number", [0.0, 0.25])
def test_ties_show_through_an_exponential(number: float) -> None:
    def best(values: list[Any]) -> torch.Tensor:
        return values[0].double().softmax(1).topk(3, dim=1).indices.double()

    assert moves(best, [torch.full((200, 30), number)]).needed() != 0.0


def test_whole_numbers_of_ours_hang_on_ties_too() -> None:
    tied = torch.full((200, 30), 255, dtype=torch.uint8)
    with pytest.raises(ties.Tied):
        moves(argmax, [tied]).alternatives(own=False)
    assert moves(argmax, [tied]).alternatives(own=True) == []


def test_a_rounding_apart_either_is_right() -> None:
    close = DRAWN.clone()
    close[7, 3], close[7, 20] = 99.0, 99.00001
    assert {float(one[7]) for one in moves(argmax, [close]).alternatives(own=True)} == {3.0}


def test_a_function_without_steps_needs_next_to_nothing() -> None:
    def energy(values: list[Any]) -> torch.Tensor:
        return values[0].double().square().sum(dim=1)

    need = moves(energy, [DRAWN], breaks_ties=False).needed()
    assert need is not None
    assert 0.0 < need < 1e-9


def test_neighbours_in_float32_keep_their_order() -> None:
    close = torch.tensor([[1.0, torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)).item(), 0.5]])
    for seed in range(20):
        assert moves(argmax, [close], seed).needed() == 0.0


def test_a_reference_that_takes_no_float64_says_nothing_of_ties() -> None:
    def bits(values: list[Any]) -> torch.Tensor:
        if values[0].dtype != torch.float32:
            raise TypeError("float32 alone")
        return values[0].view(torch.int32).double()

    assert moves(bits, [DRAWN]).alternatives(own=True) == []
    assert moves(bits, [DRAWN]).needed() is None


def clipped(values: list[Any]) -> torch.Tensor:
    return values[0].double().relu().argmax(dim=1).double()


def first_positive(values: list[Any]) -> torch.Tensor:
    return (values[0] > 0).long().argmax(dim=1).double()


def under(mode: ties.TieBreaks, function: Any) -> Any:
    def oracle(values: list[Any]) -> torch.Tensor:
        with mode:
            result: torch.Tensor = function(values)
        return result

    return oracle


@pytest.mark.parametrize(("function", "hangs"), [(clipped, True), (argmax, False), (first_positive, False)])
def test_numbers_that_the_reference_itself_makes_equal_are_ties_too(function: Any, hangs: bool) -> None:
    mode, negative = ties.TieBreaks(), DRAWN.clone()
    negative[:50] = -negative[:50].abs()
    oracle = under(mode, function)
    found = ties.Moves(oracle, [negative], oracle([negative]), 1, breaks_ties=True, inside=mode)
    assert found.hangs is hangs
    assert mode.moved is None
    assert not ties.Moves(oracle, [DRAWN], oracle([DRAWN]), 1, breaks_ties=True, inside=mode).hangs
    if hangs:
        with pytest.raises(ties.Tied):
            found.alternatives(own=False)


def test_values_of_a_function_that_breaks_ties_stay() -> None:
    mode = ties.TieBreaks()
    oracle = under(mode, lambda values: values[0].double().relu().sort(dim=1).values)
    found = ties.Moves(oracle, [DRAWN], oracle([DRAWN]), 1, breaks_ties=True, inside=mode)
    assert not found.hangs
    assert (found.needed() or 1.0) < 1e-9
