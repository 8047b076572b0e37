"""What lies at the addresses that timed calls read: another content for each call, and what is right for it."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from audit.run.calls.containers import rebuilt, tensors
from audit.run.calls.raw_memory import ALIGNMENT, Arena, Kind
from audit.run.timing import contents as module
from audit.run.timing.contents import BUFFER_SETS, MOST_CONTENTS, PIECE, Contents, mixable, mixture

FREE = 1 << 30


def draws(count: int = 2, *, numbers: tuple[float, ...] = (0.5, 0.5, 0.5)) -> list[list[Any]]:
    made = []
    for seed in range(count):
        draw = torch.Generator().manual_seed(seed)
        table = {"w": torch.randn(5, 4, generator=draw).tril(), "order": torch.randperm(5, generator=draw)}
        made.append([torch.randn(6, 5, generator=draw), table, numbers[seed]])
    return made


def reference(x: torch.Tensor, table: dict[str, torch.Tensor], scale: float) -> torch.Tensor:
    return scale * x[:, table["order"]] @ table["w"]


def copied(values: list[Any]) -> list[Any]:
    flat = iter([x.clone() for x in tensors(values)])
    return [rebuilt(one, [next(flat) if isinstance(x, torch.Tensor) else x for x in _leaves(one)]) for one in values]


def _leaves(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else [value]


def opened(values: list[list[Any]] | None = None, *, free: int = FREE, seed: int = 1) -> Contents:
    return Contents(values or draws(), copied, reference, choice=random.Random(seed), free_bytes=free)


def test_no_home_holds_the_same_content_for_two_calls_in_a_row() -> None:
    made = opened()
    held: dict[int, bytes] = {}
    pairs = set()
    for _ in range(20):
        made.renew(6)
        for owner in ("one", "other"):
            for content, buffer_set in made.taken(owner, 3):
                made.write(content, buffer_set)
                now = made.buffer_sets[buffer_set][0].numpy().tobytes()
                assert held.get(buffer_set) != now
                held[buffer_set] = now
                pairs.add((content.row, buffer_set))
    assert len(pairs) == 6 * BUFFER_SETS, "contents and buffer sets are both drawn"


def test_a_callable_gets_no_content_twice_and_each_batch_has_new_ones() -> None:
    made, seen = opened(), []
    for _ in range(10):
        made.renew(8)
        taken = made.taken("claim", 8)
        assert len({content.row for content, _ in taken}) == 8
        for content, buffer_set in taken:
            made.write(content, buffer_set)
            if content.drawn is None:
                seen.append(made.buffer_sets[buffer_set][0].numpy().tobytes())
    assert len(seen) == len(set(seen)) > 30


def test_addresses_and_versions_stay_and_containers_are_new() -> None:
    made = opened()
    before = [[(one.data_ptr(), one._version) for one in tensors(buffer_set)] for buffer_set in made.buffer_sets]
    made.renew(5)
    for content, buffer_set in made.taken("claim", 5):
        table = made.buffer_sets[buffer_set][1]
        table["packed"] = 1
        made.write(content, buffer_set)
        assert set(made.buffer_sets[buffer_set][1]) == {"w", "order"}
        assert made.buffer_sets[buffer_set][1] is not table
    assert [
        [(one.data_ptr(), one._version) for one in tensors(buffer_set)] for buffer_set in made.buffer_sets
    ] == before


def test_what_is_right_is_known_for_every_content() -> None:
    made = opened()
    made.renew(9)
    assert {content.drawn is None for content in made.batch} == {True, False}
    for content, buffer_set in made.taken("claim", 9):
        made.write(content, buffer_set)
        got = reference(*made.buffer_sets[buffer_set])
        torch.testing.assert_close(made.part_of(got), made.wanted(content))
        assert content.scale == pytest.approx(float(got.square().mean().sqrt()), rel=1e-5)
    drawn = next(content for content in made.batch if content.drawn is not None)
    made.write(drawn, 0)
    assert torch.equal(made.buffer_sets[0][0], draws()[drawn.drawn or 0][0])


def test_a_mixture_keeps_zeros_integers_and_what_both_draws_share() -> None:
    made = opened()
    made.renew(4)
    mixed = next(content for content in made.batch if content.drawn is None)
    made.write(mixed, 1)
    x, table, _ = made.buffer_sets[1]
    assert torch.equal(table["w"], table["w"].tril())
    assert sorted(table["order"].tolist()) == [0, 1, 2, 3, 4]
    assert not any(torch.equal(x, one[0]) for one in draws())
    low, high = torch.minimum(*(one[0] for one in draws())), torch.maximum(*(one[0] for one in draws()))
    assert bool(((x >= low - 1e-6) & (x <= high + 1e-6)).all())


@pytest.mark.parametrize(
    ("columns", "mixes"),
    [
        ([torch.tensor([0.5, 1.5]), torch.tensor([0.25, 1.5])], True),
        ([torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])], False),
        ([torch.tensor([0.5, 1.5])] * 2, False),
        ([torch.tensor([0.5, 1.5])], True),
        ([torch.tensor([1, 2]), torch.tensor([2, 1])], False),
        ([torch.empty(0), torch.empty(0)], False),
    ],
)
def test_only_fractions_that_differ_are_mixed(columns: list[torch.Tensor], mixes: bool) -> None:
    assert mixable(columns) == mixes


def test_infinities_of_a_mask_stay() -> None:
    one, other = torch.tensor([-torch.inf, 1.0, 2.0]), torch.tensor([-torch.inf, 3.0, -torch.inf])
    assert mixture(one, other, 0.5).tolist() == [-torch.inf, 2.0, 2.0]


def test_a_draw_with_other_numbers_is_left_out() -> None:
    made = opened(draws(3, numbers=(0.5, 0.25, 0.5)))
    drawn = set()
    for _ in range(20):
        made.renew(8)
        drawn |= {content.drawn for content in made.batch}
    assert drawn == {None, 0, 2}


def test_one_draw_alone_is_mixed_with_nothing() -> None:
    made = opened(draws(1))
    made.renew(4)
    assert {content.drawn for content in made.batch} == {None, 0}
    taken = made.taken("claim", 4)
    assert len(taken) == 4


def test_integers_alone_take_turns_as_they_are_drawn() -> None:
    values = [[torch.randperm(7, generator=torch.Generator().manual_seed(seed))] for seed in range(2)]
    made = Contents(values, copied, lambda x: x.flip(0), choice=random.Random(2), free_bytes=FREE)
    made.renew(5)
    assert not made.mixes
    assert {content.drawn for content in made.batch} == {0, 1}


def test_memory_bounds_the_contents_and_where_two_do_not_fit_they_lie_on_the_host() -> None:
    assert opened().most == MOST_CONTENTS
    row = Arena.row_bytes([Kind.of(one) for one in tensors(draws()[0])]) + ALIGNMENT
    assert opened(free=4 * 5 * row).most == 3, "two more rows hold the draws"
    small = opened(free=0)
    assert (small.most, small._arena._memory.device.type) == (2, "cpu")
    slow = opened()
    slow.spend(reference_ms=10.0)
    assert slow.most == 3
    slow.spend(reference_ms=100.0)
    assert slow.most == 2


def test_of_a_large_result_pieces_are_compared_that_change_from_batch_to_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ELEMENTS", 2 * PIECE)
    values = [[torch.randn(5 * PIECE + 3, generator=torch.Generator().manual_seed(seed))] for seed in range(2)]
    made = Contents(values, copied, lambda x: 2 * x, choice=random.Random(3), free_bytes=FREE)
    pieces = set()
    for _ in range(12):
        made.renew(2)
        pieces.add(tuple(made._pieces or ()))
        content = made.batch[0]
        made.write(content, 0)
        assert torch.equal(made.part_of(2 * made.buffer_sets[0][0]), made.wanted(content))
        assert made.wanted(content).numel() == 2 * PIECE
    assert len(pieces) > 3


def test_mixtures_end_once_the_reference_refuses_one() -> None:
    def picky(x: torch.Tensor, *_: Any) -> torch.Tensor:
        if not any(torch.equal(x, one[0]) for one in draws()):
            raise RuntimeError("only what inputs draws")
        return x

    made = Contents(draws(), copied, picky, choice=random.Random(1), free_bytes=FREE)
    made.renew(6)
    assert not made.mixes
    assert len(made.batch) == 6


def test_without_a_batch_there_is_nothing_to_take() -> None:
    with pytest.raises(LookupError, match="call `renew` first"):
        opened().taken("claim", 1)


def test_an_arena_gives_values_back_in_their_own_layout() -> None:
    one = torch.randn(4, 3).mT
    arena = Arena([Kind.of(one), Kind(torch.int8, (3,), (1,))], 2, device=torch.device("cpu"))
    arena.view(1, 0).copy_(one)
    arena.view(1, 1).copy_(torch.tensor([1, 2, 3]))
    assert torch.equal(arena.view(1, 0), one)
    assert arena.view(1, 0).stride() == one.stride()
    assert arena.view(1, 1).tolist() == [1, 2, 3]
