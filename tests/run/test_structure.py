"""The structure of a task's inputs: believed where every draw has it, and not by chance; kept in changed inputs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit.run.inputs import changes, structure
from audit.run.inputs.discriminating import Discriminator, graded_inputs
from audit.run.inputs.other_inputs import GROUPS
from audit.run.inputs.problem import Problem
from audit.run.inputs.structure import KINDS, Below, Offsets, Structures, read
from audit.run.timing.contents import mixable

Draw = Callable[[torch.Generator], Any]


def normal(*shape: int) -> Draw:
    return lambda generator: torch.randn(*shape, generator=generator)


def read_from(*draws: Draw) -> Structures:
    """The structure that a task with those inputs has."""

    def made(number: int) -> list[Any]:
        generator = torch.Generator().manual_seed(100 + number)
        return [draw(generator) for draw in draws]

    return read(made(-1), offered=[], drawn=made)


def names(draw: Draw) -> set[str]:
    return {one.name for one in read_from(draw).of.get(0, ())}


def gram(x: torch.Tensor) -> torch.Tensor:
    return x @ x.mT + x.shape[-1] * torch.eye(x.shape[-1])


def but_one(x: torch.Tensor) -> torch.Tensor:
    """The same, but for one element: what nearly has a structure."""
    changed = x.clone()
    changed.view(-1)[x.numel() // 3] = 0.3 if x.is_floating_point() else int(x.view(-1)[-1])
    return changed


def drawn_order(rows: int, size: int) -> Draw:
    return lambda generator: torch.stack([torch.randperm(size, generator=generator) for _ in range(rows)])


def hot(generator: torch.Generator) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.randint(0, 10, (40,), generator=generator), 10).float()


HAVE: dict[str, Draw] = {
    "ascending": lambda generator: torch.randn(40, generator=generator).sort().values,
    "descending": lambda generator: torch.rand(6, 9, generator=generator).sort(-1, descending=True).values,
    "symmetric": lambda generator: (a := torch.randn(12, 12, generator=generator)) + a.mT,
    "positive definite": lambda generator: gram(torch.randn(40, 40, generator=generator)),
    "one-hot": hot,
    "permutation": drawn_order(3, 20),
    "distinct": lambda generator: torch.randperm(60, generator=generator)[:40],
    "sum 1 along dimension -1": lambda generator: torch.randn(20, 30, generator=generator).softmax(-1),
    "sum 1 along dimension -2": lambda generator: torch.randn(4, 20, 30, generator=generator).softmax(-2),
    "norm 1 along dimension -1": lambda generator: torch.nn.functional.normalize(
        torch.randn(20, 30, generator=generator), dim=-1
    ),
    "logarithms of a sum 1 along dimension -1": lambda generator: torch.randn(20, 30, generator=generator).log_softmax(
        -1
    ),
    "equal halves": lambda generator: torch.randn(5, 12, generator=generator).repeat(1, 2).cos(),
}


@pytest.mark.parametrize("name", HAVE)
def test_a_structure_of_every_draw_is_known_and_one_that_most_elements_have_is_not(name: str) -> None:
    assert name in names(HAVE[name])
    assert name not in names(lambda generator: but_one(HAVE[name](generator)))


@pytest.mark.parametrize("name", HAVE)
def test_a_structure_that_one_draw_lacks_is_none(name: str) -> None:
    drawn = iter(range(99))
    assert name not in names(lambda g: HAVE[name](g) if next(drawn) != 2 else but_one(HAVE[name](g)))


@pytest.mark.parametrize("name", HAVE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_values_get_the_structure_back(name: str, dtype: torch.dtype) -> None:
    (kind,) = (one for one in KINDS if one.name == name)
    own = HAVE[name](torch.Generator().manual_seed(1))
    own = own.to(dtype) if own.is_floating_point() and name != "positive definite" else own.float()
    for changed in (torch.rand(own.shape).to(own.dtype), own * 3, own * (1 + torch.rand(own.shape).to(own.dtype))):
        found = structure.Structures({0: (kind,)}).restored([changed], [own])[0]
        assert kind.holds(found)
        assert found.dtype == own.dtype


ALONE = {"ascending": 1, "descending": 1, "symmetric": 2, "permutation": 2, "one-hot": 2}


@pytest.mark.parametrize("name", [name for name in HAVE if name != "distinct"])
@pytest.mark.parametrize("step", [0.5, 16.0, 3e4])
def test_few_elements_change_with_a_single_one(name: str, step: float) -> None:
    (kind,) = (one for one in KINDS if one.name == name)
    own = HAVE[name](torch.Generator().manual_seed(1)).float()
    changed = own.clone()
    at = int(own.view(-1).argmax()) if name == "one-hot" else own.shape[-1] + 3 if own.dim() > 1 else 7
    changed.view(-1)[at] += step
    found = structure.Structures({0: (kind,)}).restored([changed], [own])[0]
    assert kind.holds(found)
    assert found.view(-1)[at] != own.view(-1)[at]
    assert int((found != own).sum()) <= 2


def test_constants_and_few_numbers_have_no_structure() -> None:
    for draw in (
        lambda _: torch.ones(64),
        lambda _: torch.ones(2),
        lambda _: torch.zeros(1, 2),
        lambda _: torch.full((30, 20), 1 / 20),
        lambda _: torch.eye(3),
        lambda _: torch.arange(5.0),
        lambda generator: torch.randn(2, 2, generator=generator),
        lambda generator: torch.randn(1, generator=generator),
        lambda generator: torch.rand(100, generator=generator),
        lambda generator: torch.rand(9, generator=generator) < 0.5,
    ):
        assert not read_from(draw)


def test_more_draws_tell_of_two_numbers_what_few_do_not() -> None:
    assert names(lambda generator: torch.randn(2, generator=generator).sort().values) == {"ascending"}
    assert names(lambda _: torch.tensor([1.0, 2.0])) == set(), "the same two numbers each time tell no more"


def test_fractions_that_differ_may_be_equal_elsewhere() -> None:
    assert "distinct" not in names(normal(1000))


def test_a_structure_that_offered_inputs_lack_is_none() -> None:
    own = [torch.arange(40.0)]
    assert read(own, offered=[], drawn=lambda _: own)
    assert not read(own, offered=[[torch.ones(40)], [torch.randn(40)]], drawn=lambda _: own)


def indices(generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 9, (300,), generator=generator)


def test_a_number_stays_above_the_indices() -> None:
    found = read_from(indices, lambda _: 9)
    assert found.ties == (Below((0, 1)),)
    own = [torch.tensor([8, 0, 3]), 9]
    assert found.restored([own[0], 8], own) == own
    assert found.restored([own[0], 10], own)[1] == 10
    assert not read_from(indices, lambda _: 1000), "that all are below a thousand is no bound of theirs"


def test_offsets_end_where_the_other_input_ends() -> None:
    def offsets(generator: torch.Generator) -> torch.Tensor:
        inner = torch.randint(0, 51, (30,), generator=generator).sort().values
        return torch.cat([torch.tensor([0]), inner, torch.tensor([50])])

    found = read_from(normal(50), offsets)
    assert found.ties == (Offsets((1, 0), rows=False),)
    own = [torch.randn(50), offsets(torch.Generator())]
    shorter = own[1].clamp(max=40)
    assert found.restored([own[0], shorter], own)[1] is own[1]
    assert not read_from(normal(51), offsets).ties


def problem(function: Callable[..., torch.Tensor], draws: list[Draw], seed: int = 1) -> Problem:
    def oracle(*given: Any) -> torch.Tensor:
        return function(*(x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in given))

    def inputs(_: object, generator: torch.Generator) -> list[Any]:
        return [draw(generator) for draw in draws]

    reference = SimpleNamespace(reference=function, oracle=oracle, inputs=inputs)
    values = inputs({}, torch.Generator().manual_seed(seed))
    return Problem(cast(Any, reference), values, {}, device="cpu")


def every(case: Problem) -> list[tuple[str, str, list[Any], dict[str, Any]]]:
    """Every variation of a case that keeps the order of its inputs: its group, its name, its arguments and what is told
    of it."""
    discriminator = Discriminator(case, 1e-4)
    return [(group, *one) for group, made in GROUPS.items() if group != "reordered" for one in made(discriminator)]


@pytest.mark.parametrize("seed", range(3))
def test_every_variation_of_a_symmetric_matrix_is_symmetric(seed: int) -> None:
    made = every(problem(lambda a, x: a @ x, [HAVE["symmetric"], normal(12)], seed))
    assert all(torch.allclose(values[0], values[0].mT, rtol=0, atol=0, equal_nan=True) for *_, values, _ in made)
    moved = {name: more["moved"] for _, name, _, more in made if "moved" in more}
    assert {"last_element", "one_element", "slightly_moved", "two_exchanged"} <= {*moved}
    assert all(moved.values())
    assert {"uniform", "zeros", "nan", "input_0_a"} <= {name for _, name, *_ in made}


@pytest.mark.parametrize("seed", range(4))
def test_every_variation_of_edges_is_ascending(seed: int) -> None:
    def count(edge: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (x[:, None] > edge).sum(-1)

    made = every(problem(count, [HAVE["ascending"], normal(400)], seed))
    assert all(bool((values[0].diff() >= 0).all()) for *_, values, _ in made)
    assert any(bool(values[1].isnan().any()) for *_, values, _ in made), "no NaN has a place among numbers in order"
    assert all(more["moved"] for group, _, _, more in made if group == "moved")
    assert {"last_element", "one_element", "slightly_moved"} <= {name for _, name, *_ in made}
    assert {"uniform", "input_0_edge", "input_1_x"} <= {name for _, name, *_ in made}


def test_a_count_is_not_put_below_the_values_that_it_counts() -> None:
    def histogram(x: torch.Tensor, count: int) -> torch.Tensor:
        return torch.bincount(x, minlength=count)

    made = every(problem(histogram, [indices, lambda _: 9]))
    assert all(values[1] > int(values[0].max()) for *_, values, _ in made)
    loose = every(problem(histogram, [indices, lambda generator: int(torch.randint(5, 12, (1,), generator=generator))]))
    assert any(values[1] <= int(values[0].max()) for *_, values, _ in loose)


TABLE = torch.linspace(-1.0, 1.0, 40) ** 3


def test_a_table_is_replaced_by_no_distribution_and_asked_about_alone() -> None:
    made = every(problem(lambda x, code: x * code, [normal(40), lambda _: TABLE]))
    asked = {name for group, name, values, _ in made if not torch.equal(values[1], TABLE)}
    assert asked == {"input_1_code"}
    assert {"uniform", "one_element", "whole_numbers", "nan"} <= {name for _, name, *_ in made}
    drawn = every(problem(lambda x, code: x * code, [normal(40), lambda g: TABLE * torch.rand(1, generator=g)]))
    assert any(name == "uniform" and not torch.equal(values[1], TABLE) for _, name, values, _ in drawn)


def test_inputs_that_are_all_alike_in_every_draw_are_no_tables() -> None:
    made = every(problem(lambda x: x * x, [lambda _: TABLE]))
    assert any(name == "uniform" and not torch.equal(values[0], TABLE) for _, name, values, _ in made)


def test_a_table_in_order_keeps_it_while_that_moves_the_result() -> None:
    def looked_up(x: torch.Tensor, code: torch.Tensor) -> torch.Tensor:
        return code[(x[:, None] - code).abs().argmin(-1)]

    case = problem(looked_up, [normal(40), lambda _: TABLE])
    (found,) = (values[1] for name, values, _ in changes.one_argument(Discriminator(case, 1e-4)) if "code" in name)
    assert bool((found.diff() >= 0).all())
    assert not torch.equal(found, TABLE)


def test_places_in_a_row_are_asked_about_in_another_order_as_before() -> None:
    case = problem(lambda x, at: x[at], [normal(40), lambda _: torch.arange(40)])
    assert case.structures.of[1]
    (more,) = (more for name, _, more in changes.one_argument(Discriminator(case, 1e-4)) if "at" in name)
    assert (more["how"], more["moved"] > 0) == ("its elements in another order", True)


def test_graded_inputs_keep_the_order() -> None:
    case = problem(lambda x: x.square().sum(), [lambda g: torch.randn(9000, generator=g).sort().values])
    values = graded_inputs(case, 1e-3)
    assert values is not None
    assert bool((values[0].diff() >= 0).all())
    assert not torch.equal(values[0], case.flat[0])


def test_unit_vectors_are_not_mixed() -> None:
    draws = [HAVE["norm 1 along dimension -1"](torch.Generator().manual_seed(seed)) for seed in (1, 2)]
    assert not mixable(draws)
    assert mixable([2 * one for one in draws])


def reordered(function: Callable[..., torch.Tensor], *draws: Draw) -> tuple[Problem, dict[str, tuple[Any, str]]]:
    """The case and, by name, the first argument in another order and the order that every draw has."""
    case = problem(function, list(draws))
    found = changes.another_order(Discriminator(case, 1e-4))
    return case, {name: (values[0], more["how"]) for name, values, more in found}


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_same_numbers_are_asked_about_in_another_order(order: str) -> None:
    def rows(generator: torch.Generator) -> torch.Tensor:
        return torch.randn(6, 9, generator=generator).sort(-1, descending=order == "descending").values

    case, found = reordered(lambda x: x.median(-1).values, rows)
    ((name, (values, how)),) = found.items()
    assert (name, how) == ("reordered_input_0_x", order)
    assert not bool((values.diff() >= 0).all()) and not bool((values.diff() <= 0).all())
    assert torch.equal(values.reshape(-1).sort().values, case.flat[0].reshape(-1).sort().values)


def test_a_symmetric_matrix_keeps_its_diagonal_and_the_numbers_below() -> None:
    case, found = reordered(lambda a, x: a @ x, HAVE["symmetric"], normal(12))
    values, how = found["reordered_input_0_a"]
    assert how == "symmetric"
    assert torch.equal(values.tril(), case.flat[0].tril())
    assert not torch.equal(values, values.mT)


@pytest.mark.parametrize(
    ("function", "draws"),
    [
        (lambda x: x.median(-1).values, [normal(6, 9)]),
        (lambda x: x.median(-1).values, [HAVE["ascending"]]),
        (torch.linalg.cholesky, [HAVE["positive definite"]]),
        (lambda x: x * x, [lambda _: TABLE]),
        (lambda at, x: x.tensor_split(at[1:-1])[1], [lambda _: torch.arange(0, 41, 4), normal(40)]),
    ],
    ids=["no order", "any order gives the same result", "more than an order", "alike in every draw", "offsets"],
)
def test_no_other_order_is_asked_about(function: Callable[..., torch.Tensor], draws: list[Draw]) -> None:
    assert not reordered(function, *draws)[1]


def test_rows_of_norm_1_change_their_order_within_each_row() -> None:
    def rows(generator: torch.Generator) -> torch.Tensor:
        return torch.nn.functional.normalize(torch.rand(20, 30, generator=generator).sort(-1).values, dim=-1)

    case, found = reordered(lambda x: x[:, ::2].sum(-1), rows)
    values, _ = found["reordered_input_0_x"]
    assert torch.equal(values.sort(-1).values, case.flat[0])
