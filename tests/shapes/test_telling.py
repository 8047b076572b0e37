"""Rules about sizes are established by sizes that would refute them, and by nothing less."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.claims.shapes.sweep import POWERS, Rule, Sizes, explanation, is_small, sizes
from audit.claims.shapes.telling import MOST_TELLING, Results, established, telling
from audit.model import Shape
from audit.probes.sweep import ROUNDS

PROPERTY = settings(deadline=None, derandomize=True, database=None, max_examples=60)
SHAPES = st.lists(st.integers(1, 300), min_size=1, max_size=3).map(lambda found: dict(zip("mnk", found, strict=False)))
NUMBERS = st.frozensets(st.integers(2, 512), max_size=6)
KINDS = st.tuples(st.sampled_from("%><"), st.integers(2, 300))


def first(
    base: Shape, right: Callable[[Sizes], bool], numbers: frozenset[int] = frozenset()
) -> list[tuple[Sizes, bool]]:
    return [(shape, right(shape)) for shape in (base, *sizes(base, numbers))]


def told(base: Shape, right: Callable[[Sizes], bool], numbers: frozenset[int] = frozenset()) -> list[str]:
    """The rules after all rounds."""
    results = first(base, right, numbers)
    for _ in range(ROUNDS):
        results += [(shape, right(shape)) for shape in telling(results, numbers, [shape for shape, _ in results])]
    return [str(rule) for rule in established(results, numbers)]


def refuted(results: Results, rule: Rule) -> bool:
    return any(rule.holds(shape) == right for shape, right in results)


@pytest.mark.parametrize("modulus", POWERS)
def test_a_kernel_of_whole_vectors_or_tiles_is_explained_by_their_width(modulus: int) -> None:
    assert told({"rows": 3, "cols": 256}, lambda one: one["cols"] % modulus == 0) == [f"cols % {modulus} != 0"]


def test_a_tile_is_not_taken_for_a_smaller_one() -> None:
    base, right = {"heads": 3, "length": 64}, lambda one: one["length"] % 32 == 0
    few: Results = [(shape, right(shape)) for length in (64, 1, 65, 66, 68) for shape in [{**base, "length": length}]]
    assert [str(rule) for rule in explanation(few, {32}) or ()] == ["length % 8 != 0"]
    assert established(few, {32}) == ()
    asked = {shape["length"] for shape in telling(few, frozenset({32}))}
    assert any(length % 8 == 0 and length % 32 for length in asked)
    assert any(length % 32 == 0 and length % 64 for length in asked)
    assert told(base, right, frozenset({32})) == ["length % 32 != 0"]


def test_a_kernel_for_one_size_has_no_rule_of_multiples() -> None:
    assert told({"heads": 3, "length": 64}, lambda one: one["length"] == 64) == []


def test_a_limit_is_told_by_both_its_neighbours() -> None:
    base = {"batch": 4, "cols": 40}
    results = first(base, lambda one: one["cols"] >= 24, frozenset({32}))
    assert [str(rule) for rule in explanation(results, {32}) or ()] == ["cols < 32"]
    assert established(results, {32}) == ()
    assert told(base, lambda one: one["cols"] >= 24, frozenset({32})) == ["cols < 24"]
    assert told(base, lambda one: one["cols"] >= 32, frozenset({32})) == ["cols < 32"]


def test_a_row_taken_as_a_block_is_explained_by_the_most_threads() -> None:
    assert told({"rows": 4, "cols": 64}, lambda one: one["cols"] <= 1024, frozenset({32})) == ["cols > 1024"]


def test_a_size_of_one_alone_is_told_from_all_sizes_below_those_tried() -> None:
    assert told({"n": 128}, lambda one: one["n"] >= 2) == ["n < 2"]


def test_a_product_that_fits_by_chance_is_no_rule() -> None:
    base, right = {"N": 5, "M": 133}, lambda one: 1 in one.values()
    assert [str(rule) for rule in explanation(first(base, right), ()) or ()] == ["N * M > 133"]
    assert told(base, right) == []


@pytest.mark.parametrize("rule", [Rule(("rows", "cols"), "%", 4), Rule(("rows", "cols"), ">", 256)])
def test_a_product_is_a_rule_where_other_shapes_of_it_agree(rule: Rule) -> None:
    assert told({"rows": 4, "cols": 64}, lambda one: not rule.holds(one)) == [str(rule)]


def test_one_size_is_told_from_the_product_of_all() -> None:
    base, rule = {"rows": 3, "cols": 64}, Rule(("cols",), "%", 4)
    results: Results = [({**base, "cols": size}, size % 4 == 0) for size in (64, 60, 63, 62, 1, 68)]
    assert not refuted(results, Rule(("rows", "cols"), "%", 4))
    assert established(results, ()) == ()
    more = [(shape, not rule.holds(shape)) for shape in telling(results, ())]
    assert established([*results, *more], ()) == (rule,)


def test_rules_about_several_sizes_are_each_asked_about() -> None:
    rules = [Rule(("m",), "%", 64), Rule(("n",), "%", 64), Rule(("k",), ">", 16)]
    base = {"m": 64, "n": 64, "k": 16}
    right = lambda one: not any(rule.holds(one) for rule in rules)  # noqa: E731
    assert told(base, right, frozenset({64, 16})) == list(map(str, rules))


@PROPERTY
@given(SHAPES, NUMBERS, KINDS)
def test_what_is_established_has_no_rival_beside_it(
    base: Shape, numbers: frozenset[int], kind: tuple[str, int]
) -> None:
    true = Rule(("m",), *kind)  # type: ignore[arg-type]
    results = first(base, lambda one: not true.holds(one), numbers)
    for _ in range(ROUNDS):
        asked = [shape for shape, _ in results]
        more = telling(results, numbers, asked)
        assert len(more) <= MOST_TELLING
        assert all(shape not in asked and is_small(shape, base) for shape in more)
        results += [(shape, not true.holds(shape)) for shape in more]
    for rule in established(results, numbers):
        assert not refuted(results, rule)
        if rule.kind == "%":
            rivals = [2 * rule.number, *(one for one in range(1, rule.number) if rule.number % one == 0)]
        else:
            rivals = [rule.number - 1, rule.number + 1]
        assert all(refuted(results, Rule(rule.of, rule.kind, number)) for number in rivals if number)
        if len(base) == 1 or math.prod(base.values()) > 1:
            assert rule.of == ("m",) or rule.of == tuple(base)
