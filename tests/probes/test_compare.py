"""How an output compares with what is right, element by element, and what is said of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from audit.model import Tolerance
from audit.probes.concluding.compare import (
    CHUNK,
    Comparison,
    Output,
    Right,
    compare,
    few_of_half,
    number,
    sentence,
    worst_element,
    wrong_map,
)  # fmt: skip
from audit.run.calls.correctness import NothingFinite, right, rms

TOLERANCE = Tolerance(relative=1e-4, reason="a test")
EXACT = Tolerance(relative=0.0, reason="a test")
WANT = np.arange(1.0, 13.0).reshape(3, 4)
PROPERTY = settings(deadline=None, derandomize=True, database=None)
INF, NAN = math.inf, math.nan


def compared(got: object, want: object, tolerance: Tolerance = TOLERANCE, dtype: str = "float32") -> Comparison:
    return compare(np.asarray(got), Right(np.asarray(want, dtype=np.float64), dtype), tolerance)


@pytest.mark.parametrize(
    ("dtype", "wrong", "few"),
    [("float16", 9, True), ("bfloat16", 9, True), ("float16", 10, False), ("float32", 1, False)],
)
def test_few_wrong_elements_of_16_bit_numbers_may_be_rounding(dtype: str, wrong: int, few: bool) -> None:
    assert few_of_half({"elements": 10_000, "elements_wrong": wrong}, dtype) is few


def test_equal_is_right_and_says_nothing_of_an_element() -> None:
    result = compared(WANT.copy(), WANT)
    assert result.right
    assert (result.index, result.expected, result.got, result.max_abs_diff) == (None, None, None, 0.0)


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 99.0])
def test_one_bad_element_is_wrong_and_named(bad: float) -> None:
    got = WANT.copy()
    got[1, 2] = bad
    result = compared(got, WANT)
    assert (result.right, result.elements_wrong, result.index, result.expected) == (False, 1, (1, 2), 7.0)
    assert result.evidence()["got"] == number(bad)


@pytest.mark.parametrize(
    ("unit", "off", "right"),
    [
        (0.5, 1.4e-4, True),  # the published check allows 1e-4 + 1e-4 * |want|, here 1.5e-4
        (0.5, 1.6e-4, False),
        (1e-3, 9e-6, True),  # a hundredth of the rms
        (1e-3, 1.3e-5, False),
        (100.0, 1.9e-2, True),  # the rms is more
    ],
)
def test_a_stated_absolute_part_counts_up_to_a_hundredth_of_the_rms(unit: float, off: float, right: bool) -> None:
    want = unit * np.array([1.0, -1.0, 1.0, -1.0])
    stated = TOLERANCE.model_copy(update={"absolute": 1e-4})
    assert compared(want + off, want, stated).right is right
    assert compared(want + min(off, 1.9e-4 * unit), want).right


def test_tolerance_scales_with_the_values_and_not_with_their_unit() -> None:
    off = WANT * (1 + 5e-5)
    assert compared(off, WANT).right
    assert compared(off * 1e-9, WANT * 1e-9).right
    assert not compared(WANT * 1e-9 + 1e-9, WANT * 1e-9).right


def test_all_zero_expected_allows_only_zero() -> None:
    zeros = np.zeros((2, 2))
    assert compared(zeros, zeros).right
    assert compared(zeros + 1e-30, zeros).elements_wrong == 4


def test_a_causal_mask_is_right_and_seven_everywhere_is_not() -> None:
    want = np.where(np.tri(5, dtype=bool), 0.5, -INF)
    assert compared(want.copy(), want).right
    assert compared(np.where(np.tri(5, dtype=bool), 0.5, INF), want).elements_wrong == 10
    assert compared(np.where(np.tri(5, dtype=bool), 0.5, -3e38), want).elements_wrong == 10
    one_infinity = WANT.copy()
    one_infinity[0, 0] = INF
    result = compared(np.full_like(WANT, 7.0), one_infinity)
    assert result.elements_wrong == 11  # the seven alone is right
    assert (result.index, result.expected, result.got) == ((0, 0), INF, 7.0)


@pytest.mark.parametrize(
    ("got", "words"),
    [(834570001.0, "expected 834570000, got 834570001"), (7.0, "expected 8.3457e+08, got 7")],
)
def test_values_that_read_alike_are_given_in_full(got: float, words: str) -> None:
    seen = {"index": [3], "expected": 834570000.0, "got": got}
    assert worst_element(seen) == f"at [3] {words}"


def test_the_worst_element_is_a_wrong_one_even_where_a_right_one_is_farther_off() -> None:
    result = compared([1e6 + 50, 1.0, 30.0], [1e6, 1.0, 90.0], Tolerance(relative=4e-5, reason="a test"))
    assert (result.elements_wrong, result.index, result.max_abs_diff) == (1, (2,), 60.0)


def test_a_result_of_half_precision_is_held_to_no_more_than_it_can_hold() -> None:
    fine = Tolerance(relative=1e-5, reason="a test")
    want = np.linspace(0.9, 1.9, 100)
    rounded = want.astype(np.float16)
    result = compared(rounded, want, fine, "float16")
    assert (result.right, result.floor, result.evidence()["tolerance_floor"]) == (True, 2**-9, 2**-9)
    assert not compared(rounded, want, fine, "float32").right
    assert "tolerance_floor" not in compared(rounded, want, Tolerance(relative=0.1, reason="a test")).evidence()


def test_a_tolerance_of_zero_asks_for_the_exact_integer_and_for_the_nearest_number() -> None:
    want = np.array([3.0, 4.0, 5.0])
    assert compared(np.array([3, 4, 5]), want, EXACT, "int64").right
    assert compared(np.array([3, 4, 6]), want, EXACT, "int64").elements_wrong == 1
    third = np.array([1 / 3])
    assert compared(third.astype(np.float32), third, EXACT).right
    assert not compared(third.astype(np.float16), third, EXACT).right


def test_unit_dimensions_tell_no_elements_apart() -> None:
    assert compared(np.array([4.0]), np.array(4.0)).right
    assert compared(WANT.reshape(3, 1, 4), WANT).right
    wrong = compared(np.array([5.0]), np.array(4.0))
    assert (wrong.elements_wrong, wrong.index, wrong.got) == (1, (), 5.0)


def test_numbers_beside_zero_may_be_two_of_the_least_normal_numbers_off() -> None:
    least = 2.0**-126
    want = np.array([17.3 * least, 3 * least, 0.0])
    assert compared(np.array([19, 2, 1], dtype=np.float32) * np.float32(least), want).right
    assert compared(np.array([17, 6, 0], dtype=np.float32) * np.float32(least), want).elements_wrong == 1
    assert not compared(np.array([1.0, 0.0]), np.array([1.0 + 1e-3, 0.0])).right
    assert compared(np.array([0.0, 0.0], dtype=np.float32), np.array([3.75e-41, 1e-45])).right  # a product on its way


def test_nothing_finite_is_no_error_of_the_kernel() -> None:
    with pytest.raises(NothingFinite):
        compared(np.zeros(3), np.full(3, NAN))


def test_a_tie_may_be_broken_in_either_way_and_in_no_third() -> None:
    want, other = np.array([2.0, 5.0]), np.array([7.0, 5.0])
    for got, wrong in (([2, 5], 0), ([7, 5], 0), ([3, 5], 1), ([7, 2], 1)):
        found = compare(np.array(got), Right(want, "int64", (other,)), TOLERANCE)
        assert found.elements_wrong == wrong


@PROPERTY
@given(
    npst.arrays(np.float32, st.integers(1, 40), elements=st.floats(width=32)),
    npst.arrays(np.float64, 40, elements=st.floats(allow_nan=True)),
    st.floats(min_value=0.0, max_value=0.5),
)
def test_the_count_is_that_of_the_rule(got: np.ndarray, want: np.ndarray, relative: float) -> None:
    due = want[: got.size]
    due[0] = 1.0
    found = compared(got, due, Tolerance(relative=relative, reason="a test"), "float64")
    rule = right(got, due, relative=max(relative, 2**-51), scale=rms(due))
    assert found.elements_wrong == np.count_nonzero(~rule)
    assert found.index is None or not rule[found.index]


def test_many_chunks_are_one_result() -> None:
    want = np.ones(2 * CHUNK + 5)
    got = want.copy()
    got[[3, CHUNK + 1, 2 * CHUNK + 4]] = [2.0, 9.0, NAN]
    found = compared(got, want)
    assert (found.elements_wrong, found.index) == (3, (2 * CHUNK + 4,))


SEVERAL = Right(
    np.concatenate([1e6 * WANT.reshape(-1), [1e-3, 2e-3]]),
    "float32",
    (),
    (Output((3, 4), "float32"), Output((2,), "float32")),
)


def test_each_of_several_outputs_is_held_to_its_own_size() -> None:
    assert compare(SEVERAL.values.copy(), SEVERAL, TOLERANCE).right
    got = SEVERAL.values.copy()
    got[-1] += 1e-3
    result = compare(got, SEVERAL, TOLERANCE)
    assert (result.elements, result.elements_wrong, result.output, result.index) == (14, 1, 1, (1,))
    assert sentence(result.evidence()) == "1 of 14 elements wrong; at [1] of output 1 expected 0.002, got 0.003"


def test_of_several_outputs_the_one_with_most_wrong_elements_is_named() -> None:
    got = SEVERAL.values.copy()
    got[[1, 2, -1]] = NAN
    result = compare(got, SEVERAL, TOLERANCE)
    assert (result.elements_wrong, result.output, result.index) == (3, 0, (0, 1))


def test_an_output_may_have_a_size_of_its_own() -> None:
    got = SEVERAL.values.copy()
    got[-1] += 1e-3
    assert compare(got, SEVERAL, TOLERANCE, least_scale=(0.0, 100.0)).right
    assert not compare(got, SEVERAL, TOLERANCE, least_scale=(100.0, 0.0)).right


def test_a_map_marks_every_wrong_element_in_its_cell() -> None:
    rows, columns = 640, 1024  # more than one chunk, cells of 10 x 16
    want = np.ones((rows, columns))
    got = want.copy()
    got[25, 40] = 2.0
    got[630:, 1008:] = NAN
    found = wrong_map(got, Right(want, "float32"), TOLERANCE, least_scale=0.0, output=None)
    expected = np.zeros((64, 64))
    expected[2, 2], expected[63, 63] = round(1 / 160, 4), 1.0
    assert found == expected.tolist()


def test_a_single_wrong_element_of_many_is_seen_and_a_single_right_one_too() -> None:
    got = np.ones(1 << 20)
    got[5] = 2.0
    for value, end in ((1.0, 1e-4), (2.0, 1 - 1e-4)):
        ((first, *rest),) = wrong_map(
            got, Right(np.full(1 << 20, value), "float32"), TOLERANCE, least_scale=0.0, output=None
        )
        assert (first, {*rest}) == (end, {float(value == 2.0)})


def test_of_several_outputs_the_map_is_of_the_one_that_is_named() -> None:
    want = np.arange(1.0, 11.0)
    right = Right(want, "float32", outputs=(Output((2, 2), "float32"), Output((2, 3), "float32", 5.0)))
    got = want.copy()
    got[[0, 5, 6]] = 0.0
    output = compare(got, right, TOLERANCE).output
    assert output == 1
    assert wrong_map(got, right, TOLERANCE, least_scale=(0.0, 5.0), output=output) == [[0, 1, 1], [0, 0, 0]]


def test_a_tie_is_not_marked() -> None:
    right = Right(WANT, "float32", also=(WANT + 100,))
    assert wrong_map(WANT + 100, right, TOLERANCE, least_scale=0.0, output=None) == [[0.0] * 4] * 3
