"""What a case tells of its reference: the usual size of a result of few elements, and what is as right at ties."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit.run.calls import correctness
from audit.run.inputs import formats, ties
from audit.run.inputs.problem import FEW, Problem
from audit.run.messages.results import Writer


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


def two_outputs(elements: int = 64) -> Problem:
    """A small vector of large numbers, and their places in descending order."""

    def oracle(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = torch.sort(x.double(), descending=True)
        return values * 1e6, places

    reference = SimpleNamespace(
        inputs=lambda shape, generator: [torch.randn(shape["N"], generator=generator)],
        oracle=oracle,
        reference=lambda x: (oracle(x)[0].float(), oracle(x)[1]),
    )
    values = [torch.randn(elements, generator=torch.Generator().manual_seed(1))]
    return Problem(cast(Any, reference), values, {"N": elements}, device="cpu")


def test_several_outputs_are_each_in_units_of_their_own_size() -> None:
    made = two_outputs()
    values, places = made.want[:64], made.want[64:]
    assert correctness.rms(values) == pytest.approx(1.0)
    assert correctness.rms(places) == pytest.approx(1.0)
    assert made.dtype == "float32"
    assert made.size == 0.0
    assert formats.headroom(made, made.values)["fp32"] == pytest.approx(0.0, abs=1e-6)


def test_inputs_of_a_low_format_are_moved_as_far_as_it_rounds() -> None:
    draw = torch.Generator().manual_seed(1)
    reference = SimpleNamespace(
        inputs=lambda shape, generator: [torch.randn(shape["N"], 64, generator=generator).bfloat16()],
        oracle=lambda x: torch.softmax(x.double(), -1),
        reference=lambda x: torch.softmax(x.float(), -1),
    )
    values = [torch.randn(1024, 64, generator=draw).bfloat16()]
    case = Problem(cast(Any, reference), values, {"N": 64}, device="cpu")
    calm, steep = formats.headroom(case, values), formats.headroom(case, [100 * values[0]])
    assert calm["bf16"] is not None and 1e-4 < calm["bf16"] < 0.05
    assert steep["fp32"] is not None and steep["fp32"] < 1e-3
    assert steep["bf16"] is not None and steep["bf16"] > 0.1, "scores in bfloat16 choose other columns"
    found = formats.bits(case)
    assert found["bf16"] == found["split_fp16"], "inputs that it represents have all their bits"


def test_several_outputs_are_written_as_they_are(tmp_path: Path) -> None:
    made, file = two_outputs(), tmp_path / "right"
    with Writer(os.open(file, os.O_WRONLY | os.O_CREAT)) as results:
        event = made.expected(made.values, results)
    outputs = [(one["shape"], one["dtype"], one["size"]) for one in event["expected_outputs"]]
    assert outputs == [([64], "float32", 0.0), ([64], "int64", 0.0)]
    assert event["expected_shape"] == [128]
    written = torch.from_file(str(file), size=128, dtype=torch.float64)
    assert torch.equal(written[:64], torch.sort(made.values[0].double(), descending=True).values * 1e6)
    assert torch.equal(written[64:].long(), torch.argsort(made.values[0], descending=True))


def test_few_elements_have_the_size_they_usually_have_each() -> None:
    made = problem(lambda x: x.double().sum())
    both = problem(lambda x: x.double())
    made.reference.oracle = lambda x: (x.double().sum(), x.double())
    made.reference.reference = lambda x: (x.sum(), x)
    total, rest = made._sizes
    assert math.sqrt(4096) / 4 < total < 4 * math.sqrt(4096)
    assert rest == both.size == 0.0


def test_each_of_several_outputs_is_held_to_its_size_at_the_inputs_at_hand() -> None:
    reference = SimpleNamespace(
        inputs=lambda shape, generator: [torch.randn(shape["N"], generator=generator)],
        oracle=lambda x: (torch.ones(64).double(), x.double()),
        reference=lambda x: (torch.ones(64), x + 1e-6),
    )
    values = [torch.randn(64, generator=torch.Generator().manual_seed(1))]
    case = Problem(cast(Any, reference), values, {"N": 64}, device="cpu")
    near_zero = [1e-4 * values[0]]
    own, there = formats.need(case, values), formats.need(case, near_zero)
    assert own is not None and own < 1e-5
    assert there is not None and there > 1e-3
    assert formats.headroom(case, near_zero)["fp32"] == there


@pytest.mark.parametrize(("columns", "meant"), [(64, False), (4, True)])
def test_numbers_that_a_task_makes_equal_are_ties_unless_its_own_draws_have_them(
    columns: int, meant: bool, tmp_path: Path
) -> None:
    def best(x: torch.Tensor) -> torch.Tensor:
        return x.relu().argmax(1)

    reference = SimpleNamespace(
        inputs=lambda shape, generator: [torch.randn(256, shape["N"], generator=generator)],
        oracle=lambda x: best(x.double()),
        reference=best,
    )
    values = reference.inputs({"N": columns}, torch.Generator().manual_seed(2))
    case = Problem(cast(Any, reference), values, {"N": columns}, device="cpu")
    negative = [values[0].clone()]
    negative[0][:64] = -1.0 - torch.rand(64, columns, generator=torch.Generator().manual_seed(3))
    with Writer(os.open(tmp_path / "right", os.O_WRONLY | os.O_CREAT)) as results:
        assert case.expected(values, results)["also_at"] == []
        if meant:
            assert case.expected(negative, results)["also_at"] == []
        else:
            with pytest.raises(ties.Tied):
                case.expected(negative, results)
