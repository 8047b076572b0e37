"""Changes of arguments: gentle at first, and never one that the right result does not show, where another would."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from audit.run.calls.containers import leaves, rebuilt
from audit.run.inputs import changes
from audit.run.inputs.discriminating import Discriminator
from audit.run.inputs.problem import Problem
from audit.run.inputs.redrawn import redrawn
from audit.run.inputs.transforms import is_real

X = torch.randn(6, 5, generator=torch.Generator().manual_seed(1))


class Case(Problem):
    """A case of a plain function, and what it can tell; `others` are the arguments that `inputs` draws next."""

    offers, relative, least_scale = False, 1e-4, 0.0

    def __init__(self, function: Callable[..., torch.Tensor], values: list[Any], others: list[Any]) -> None:
        def oracle(*given: Any) -> torch.Tensor:
            return function(*rebuilt([*given], [x.double() if is_real(x) else x for x in leaves([*given])]))

        reference = SimpleNamespace(reference=function, oracle=oracle, inputs=lambda *_: others)
        super().__init__(cast(Any, reference), values, {}, device="cpu")
        self.problem = self


def replaced(function: Callable[..., torch.Tensor], *values: Any, second: list[Any] | None = None) -> dict[str, Any]:
    """By name: what is told of each argument replaced alone, and its new value."""
    case = Case(function, list(values), list(values) if second is None else second)
    return {
        name: (result["kind"], result["how"], result["moved"], leaves(changed))
        for name, changed, result in changes.one_argument(cast(Discriminator, case))
    }


def test_a_number_is_scaled_until_the_result_moves() -> None:
    result = replaced(lambda x, eps: x / (x.var(-1, keepdim=True) + eps).sqrt(), X, 1e-12, second=[X + 1, 1e-12])
    assert (result["input_1_eps"][0], result["input_1_eps"][2]) == ("number", 0), "no factor is enough for this one"
    kind, how, moved, _ = replaced(lambda x, eps: x + eps, X, 1e-5)["input_1_eps"]
    assert (kind, how, moved > 0) == ("number", "0.00064 for 1e-05", True)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.ones(5), "constant"),
        (torch.zeros(5), "constant"),
        (torch.linspace(0, 1, 5), "table"),
    ],
)
def test_a_tensor_that_is_always_alike_is_redrawn(value: torch.Tensor, kind: str) -> None:
    seen, _, moved, (_, new) = replaced(lambda x, w: x * (1 + w), X, value)["input_1_w"]
    assert (seen, moved > 0) == (kind, True)
    assert (new >= 0).all(), "a constant or table keeps its signs"
    assert new[value == 0].eq(0).all() or kind == "constant"


def test_indices_change_places_and_keep_their_range() -> None:
    kind, how, moved, (_, new) = replaced(lambda x, order: x[order], X, torch.tensor([3, 0, 5]))["input_1_order"]
    assert (kind, "order" in how, moved > 0) == ("table", True, True)
    assert sorted(new.tolist()) == [0, 3, 5]


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8])
def test_equal_lengths_get_smaller_ones_in_half_of_their_places(dtype: torch.dtype) -> None:
    lengths = torch.full((7,), 5, dtype=dtype)
    ((how, new, kind),) = [(one.how, one.value, one.kind) for one in redrawn(lengths, lengths, torch.Generator())]
    assert (how, kind, new.dtype) == ("1 to 4 for 5 in half of its places", "counts", dtype)
    assert int((new == 5).sum()) == 3
    assert {*new.tolist()} <= {1, 2, 3, 4, 5}


def test_lengths_that_move_nothing_are_not_taken_for_others() -> None:
    assert replaced(lambda x, lengths: x * (lengths < 6), X, torch.full((5,), 5))["input_1_lengths"][2] == 0


@pytest.mark.parametrize(
    ("value", "how"), [(torch.ones(5), "of its places"), (torch.linspace(0, 1, 5), "in another order")]
)
def test_float8_numbers_which_torch_does_not_compute_with_keep_their_range(value: torch.Tensor, how: str) -> None:
    small = value.to(torch.float8_e4m3fn)
    _, told, moved, (_, new) = replaced(lambda x, w: x * w.to(x.dtype), X, small)["input_1_w"]
    assert (how in told, moved > 0, new.dtype) == (True, True, small.dtype)
    assert {*new.float().tolist()} <= {*small.float().tolist(), 0.0}


def test_a_mask_is_turned_round_in_places_that_the_reference_stands() -> None:
    result = replaced(
        lambda x, keep: x.masked_fill(~keep, -torch.inf).softmax(-1), X, torch.ones(6, 5, dtype=torch.bool)
    )
    kind, how, moved, (_, new) = result["input_1_keep"]
    assert (kind, how, moved > 0) == ("constant", "turned round in 10% of its places", True)
    assert new.any(-1).all()


def test_what_nothing_moves_is_told_with_no_element() -> None:
    assert replaced(lambda x, _: x + 1, X, torch.ones(3))["input_1__"][2] == 0


def test_what_the_reference_refuses_is_left_out() -> None:
    assert "input_1_dim" not in replaced(lambda x, dim: x.sum(dim), X, 1)


def test_values_within_containers_are_replaced_one_by_one() -> None:
    result = replaced(lambda x, p: x @ p["w"] + p["b"], X, {"w": torch.eye(5), "b": torch.zeros(5)})
    assert {name: kind for name, (kind, *_) in result.items()} == {
        "input_0_x": "table", "input_1_p_w": "table", "input_1_p_b": "constant",
    }  # fmt: skip


def test_an_element_moves_until_the_right_result_does() -> None:
    wide = torch.cat([torch.full((1,), 1e6), torch.ones(99)])
    case = Case(lambda x: x.cumsum(0), [wide], [wide])
    values = {name: more["moved"] for name, _, more in changes.one_element(cast(Discriminator, case))}
    assert {"last_element", "one_element", "middle_element"} <= set(values)
    assert min(values.values()) > 0


def test_an_element_moves_as_little_as_shows() -> None:
    case = Case(lambda x: x, [X], [X])
    by_name = {name: values[0] for name, values, _ in changes.one_element(cast(Discriminator, case))}
    step = (by_name["slightly_moved"] - X).abs()
    assert torch.count_nonzero(step) == 1
    assert 0 < step.max() < 0.01 < (by_name["one_element"] - X).abs().max()


def test_two_exchanged_elements_leave_every_sum_and_move_the_result() -> None:
    case = Case(lambda x, y: x @ y, [X, X.mT.contiguous()], [X + 1, X.mT + 1])
    by_name = {name: (values, more) for name, values, more in changes.whole_numbers(cast(Discriminator, case))}
    (base, _), (exchanged, more) = by_name["whole_numbers"], by_name["two_exchanged"]
    assert more["moved"] > 0
    for one, other in zip(base, exchanged, strict=True):
        assert one.sum() == other.sum()
        assert torch.equal(one, one.round())
    assert sum(int((one != other).sum()) for one, other in zip(base, exchanged, strict=True)) == 2


@pytest.mark.parametrize(
    ("own", "first"), [(0.9, "0.9875 for 0.9"), (0.5, "0.9375 for 0.5"), (1.0, "0.5 for 1"), (0.4, "0.2 for 0.4")]
)
def test_a_decay_is_first_brought_nearer_to_one(own: float, first: str) -> None:
    assert next(redrawn(own, own, torch.Generator())).how == first


def test_nothing_is_made_of_what_is_no_number() -> None:
    assert list(redrawn("mode", "mode", torch.Generator())) == []
    assert list(redrawn(torch.tensor([0, 0]), torch.tensor([0, 0]), torch.Generator())) == []


def test_a_change_that_makes_results_infinite_is_none() -> None:
    table = torch.full((6, 5), 1e-3, dtype=torch.float16)
    table[0, 0] = 60.0  # what is beyond 65,504 becomes infinite
    _, _, moved, values = replaced(lambda x, y: x + 1e-9 * y.double(), X, table)["input_1_y"]
    assert moved == 0
    assert bool(values[1].isfinite().all())


def nonfinite_at(function: Callable[..., torch.Tensor], *values: Any) -> dict[str, list[int]]:
    """By name: the places of the first argument's elements that are not finite."""
    case = Case(function, list(values), list(values))
    found = changes.nonfinite_element(cast(Discriminator, case))
    return {name: (~given[0].isfinite()).view(-1).nonzero().view(-1).tolist() for name, given, _ in found}


def test_a_nan_and_an_infinity_stand_where_the_right_result_depends_on_them() -> None:
    assert nonfinite_at(lambda x: x * 2, X) == {"nan": [29], "inf": [29]}, "the last one"
    windows = nonfinite_at(lambda x: torch.max_pool1d(x[None], 1, stride=3)[0], X)
    assert windows["nan"] == windows["inf"]
    assert windows["nan"][0] % 5 in (0, 3), "the last column of five is in no window"
    assert nonfinite_at(torch.zeros_like, X) == {"nan": [29], "inf": [29]}, "nowhere"
    assert nonfinite_at(lambda x: x.where(x > 0, 0 * x.nan_to_num()), X)["inf"] == [29], "an infinity alone is enough"
    assert nonfinite_at(lambda x: x * 2, torch.arange(3)) == {}


def test_a_place_that_makes_the_reference_refuse_is_one_that_it_reads() -> None:
    def refuses(x: torch.Tensor) -> torch.Tensor:
        if not x.isfinite().all():
            raise ValueError("not finite")
        return x

    assert nonfinite_at(refuses, X) == {"nan": [29], "inf": [29]}
