"""Other inputs for a whole case: graded ones, of which no regular part stands for the whole, and redrawn fixed ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit.run.inputs.changes import fixed_redrawn
from audit.run.inputs.discriminating import MANY, Discriminator, graded_inputs
from audit.run.inputs.problem import Problem
from audit.run.inputs.transforms import LEAST_GRADE, graded

RELATIVE = 1e-3


def problem(oracle: Any, draw: Any = torch.randn, *, rows: int = 100, cols: int = 300) -> Problem:
    reference = SimpleNamespace(
        inputs=lambda shape, generator: [draw(shape["R"], shape["C"], generator=generator), torch.ones(3)],
        oracle=oracle,
        reference=lambda *given: oracle(*given).float(),
    )
    shape = {"R": rows, "C": cols}
    values = reference.inputs(shape, torch.Generator().manual_seed(1))
    return Problem(cast(Any, reference), values, shape, device="cpu")


def mean_of_squares(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return x.double().square().mean()


PARTS = {
    "every second row": lambda x: x[::2],
    "every second column": lambda x: x[:, ::2],
    "the first half": lambda x: x[: x.shape[0] // 2],
    "every fourth row": lambda x: x[::4],
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_no_regular_part_has_the_mean_of_the_whole(part: Any) -> None:
    values = graded_inputs(problem(mean_of_squares), RELATIVE)
    assert values is not None
    whole, half = float(values[0].square().mean()), float(part(values[0]).square().mean())
    assert abs(half - whole) > 0.05 * whole


def test_what_the_task_draws_alike_stays_and_no_number_grows() -> None:
    made = problem(mean_of_squares)
    values = graded_inputs(made, RELATIVE)
    assert values is not None
    assert torch.equal(values[1], torch.ones(3))
    share = values[0] / made.values[0]
    assert LEAST_GRADE / 2 < float(share.min()) < float(share.max()) <= 1.0


def test_tensors_of_other_sizes_rise_and_fall_alike() -> None:
    one, other = (graded(torch.ones(size), torch.Generator().manual_seed(7)) for size in (64, 60))
    assert torch.equal(one[:60] > one[1:61], other > torch.cat([other[1:], one[60:61]]))


@pytest.mark.parametrize(
    "made",
    [
        problem(lambda x, _: x.double().square()),
        problem(lambda x, _: x.double().square().mean(), rows=2, cols=MANY // 4),
        problem(mean_of_squares, lambda *size, generator: 1.0 + torch.rand(*size, generator=generator)),
    ],
    ids=["a result as large as the inputs", "few inputs", "a range that would be left"],
)
def test_no_inputs_are_made_where_they_say_nothing_or_are_not_the_tasks(made: Problem) -> None:
    assert graded_inputs(made, RELATIVE) is None


def test_no_inputs_are_made_that_cancel_but_for_roundings() -> None:
    def differences(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        large = 1e6 * x.double()
        return (large.sum() - large.flip(0).cumsum(0)[-1].sum()) + 1e-9 * x.double().sum()

    assert graded_inputs(problem(differences), RELATIVE) is None


def test_fixed_inputs_are_redrawn_where_the_right_result_moves() -> None:
    made = problem(lambda x, gain: x.double() @ torch.ones(300, 3).double() * gain)
    values = fixed_redrawn(Discriminator(made, RELATIVE))
    assert values is not None
    assert torch.equal(values[0], made.values[0])
    assert bool((values[1] >= 0.5).all() and (values[1] <= 1.5).all() and values[1].unique().numel() == 3)
    assert fixed_redrawn(Discriminator(problem(mean_of_squares), RELATIVE)) is None
