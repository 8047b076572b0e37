"""Lists, tuples and dicts among arguments: their leaves, and what a call leaves in them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from audit.run.calls.arguments import Arguments
from audit.run.calls.containers import along, holds_more, leaves, named_leaves, rebuilt, refilled

ONE, TWO = torch.ones(2), torch.zeros(3)
NESTED = [ONE, {"w.norm": TWO, "sizes": (3, [4, None])}]


def test_leaves_come_in_order_and_are_named_by_the_keys_that_lead_to_them() -> None:
    assert leaves(NESTED)[2:] == [3, 4, None]
    assert [name for name, _ in named_leaves(NESTED[1], "input_1")] == [
        "input_1_w_norm", "input_1_sizes_0", "input_1_sizes_1_0", "input_1_sizes_1_1",
    ]  # fmt: skip


def test_containers_are_made_anew_around_other_leaves() -> None:
    made = rebuilt(NESTED, range(5))
    assert made == [0, {"w.norm": 1, "sizes": (2, [3, 4])}]
    assert NESTED[0] is ONE


def test_containers_handed_out_before_get_their_leaves_back_and_keep_what_was_added() -> None:
    handed = rebuilt(NESTED, leaves(NESTED))
    inner = handed[1]
    inner["packed"], inner["w.norm"] = ONE, None
    again = refilled(handed, NESTED, [1, 2, 3, 4, 5])
    assert again[1] is inner
    assert inner == {"w.norm": 2, "sizes": (3, [4, 5]), "packed": ONE}


@pytest.mark.parametrize(
    ("change", "more"),
    [
        (lambda _: None, False),
        (lambda inner: inner.update(packed=1), True),
        (lambda inner: inner["sizes"][1].append(1), True),
        (lambda inner: inner.pop("sizes"), True),
        (lambda inner: inner.update(sizes=7), True),
    ],
)
def test_what_a_call_left_in_a_container_is_seen(change: Any, more: bool) -> None:
    handed = rebuilt(NESTED, leaves(NESTED))
    change(handed[1])
    assert holds_more(handed, NESTED) == more


def test_what_was_taken_away_is_none_where_it_lay() -> None:
    assert along([ONE, {"sizes": (3, [4, None])}], NESTED) == [ONE, None, 3, 4, None]


def test_bytes_are_compared_within_containers() -> None:
    case = Arguments([ONE, {"w": TWO}], torch.clone)
    given = case.fill(case.values)
    given[1]["w"] += 1
    given[1]["left"] = 1
    assert (case.changed(given)[0], case.changed(given)[1] > 0, case.extended(given)) == (0, True, [1])
    case.invalidate()
    again = case.fill(case.values)
    assert again[1] is given[1], "a loop hands over one dict again and again"
    assert case.changed(again) == [0, 0]
    assert again[1]["left"] == 1
