"""Sizes around a shape, and the rule that tells where a kernel is wrong: what both have to hold for any shape."""

from __future__ import annotations

import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from audit.claims.shapes.sweep import GROWTH, MOST_SHAPES, SMALL, SMALL_SIZE, Rule, explanation, sizes
from audit.model import Shape

PROPERTY = settings(deadline=None, derandomize=True, database=None)
NAMES = ("batch", "rows", "cols", "k", "r", "s")
BASES = st.lists(st.integers(1, 5000), min_size=1, max_size=6).map(lambda found: dict(zip(NAMES, found, strict=False)))
NUMBERS = st.frozensets(st.integers(2, 1 << 16), max_size=12)


def told(rules: tuple[Rule, ...] | None) -> list[str]:
    return [str(rule) for rule in rules or ()]


def swept(base: Shape, numbers: frozenset[int], rule: Rule) -> list[tuple[Shape, bool]]:
    return [(shape, not rule.holds(shape)) for shape in (base, *sizes(base, numbers))]


@PROPERTY
@given(BASES, NUMBERS)
def test_one_size_is_changed_at_a_time_or_all_by_one(base: Shape, numbers: frozenset[int]) -> None:
    found = sizes(base, numbers)
    assert 0 < len(found) <= MOST_SHAPES
    assert found == sizes(base, numbers)
    assert len({tuple(shape.items()) for shape in found}) == len(found)
    for shape in found:
        changed = [name for name in base if shape[name] != base[name]]
        assert list(shape) == list(base)
        assert all(size > 0 for size in shape.values())
        assert len(changed) == 1 or all(abs(shape[name] - base[name]) == 1 for name in changed)
        assert changed


@PROPERTY
@given(BASES, NUMBERS)
def test_no_shape_is_much_larger_than_the_base(base: Shape, numbers: frozenset[int]) -> None:
    for shape in sizes(base, numbers):
        if len([name for name in base if shape[name] != base[name]]) == 1:
            assert math.prod(shape.values()) <= max(SMALL, GROWTH * math.prod(base.values()))
            assert all(shape[name] <= max(SMALL_SIZE, GROWTH * base[name]) for name in base)


@PROPERTY
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40), st.booleans()), min_size=1, max_size=24), NUMBERS)
def test_rules_hold_exactly_where_the_result_is_wrong(
    found: list[tuple[int, int, bool]], numbers: frozenset[int]
) -> None:
    results = [({"m": m, "n": n}, right) for m, n, right in found]
    rules = explanation(results, numbers)
    assume(rules is not None)
    assert rules
    assert [any(rule.holds(shape) for rule in rules) for shape, _ in results] == [not right for _, right in results]
    assert len({rule.of for rule in rules}) == len(rules)


def test_a_width_that_the_source_names_is_found_too() -> None:
    results = swept({"n": 96}, frozenset({24}), Rule(("n",), "%", 24))
    assert told(explanation([*results, ({"n": 88}, False), ({"n": 80}, False)], {24})) == ["n % 24 != 0"]


def test_rules_about_several_sizes_stand_beside_each_other() -> None:
    base = {"m": 64, "n": 64, "k": 16}
    shapes = [base, *sizes(base, {64, 16})]
    results = [(one, one["m"] % 64 == 0 and one["n"] % 64 == 0 and one["k"] <= 16) for one in shapes]
    assert told(explanation(results, {64, 16})) == ["m % 64 != 0", "n % 64 != 0", "k > 16"]


def test_vectors_across_rows_are_explained_by_the_product() -> None:
    base = {"rows": 4, "cols": 64}
    results = [(one, one["rows"] * one["cols"] % 4 == 0) for one in (base, *sizes(base, ()))]
    assert [right for _, right in results].count(False) == 2
    assert told(explanation(results, ()))[0].startswith("rows * cols %")


def test_rules_about_a_product_stand_alone() -> None:
    results = [({"m": m, "n": 33}, m == 16) for m in (8, 15, 16, 17, 20, 32)]
    assert explanation(results, {16}) is None, "m % 16 != 0 or m * n > 528 would fit"


def test_what_no_rule_tells_has_none() -> None:
    scattered = [({"n": size}, size not in (3, 8, 11)) for size in range(1, 16)]
    assert explanation(scattered, {2, 4}) is None
    assert explanation([({"n": 1}, True), ({"n": 2}, True)], ()) is None
    assert explanation([({"n": 1}, False), ({"n": 2}, False)], ()) is None
