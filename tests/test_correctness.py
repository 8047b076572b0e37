"""The rule by which an element is right: the same for numpy and torch, and what it has to hold for any numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from audit.run.calls import correctness
from audit.run.calls.correctness import NothingFinite, effective_bits, held_to, needed, right, rms

PROPERTY = settings(deadline=None, derandomize=True, database=None)
ANY = st.floats(allow_nan=True, allow_infinity=True)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
MODEST = st.floats(min_value=-1e12, max_value=1e12)
ROUND = st.one_of(st.integers(-1000, 1000).map(float), st.sampled_from([math.nan, math.inf, -math.inf, 0.125]))
"""Far from where numbers overflow or vanish."""
RELATIVE = st.floats(min_value=0.0, max_value=0.5)
SHAPES = npst.array_shapes(max_dims=3, max_side=5)


def arrays(elements: st.SearchStrategy[float] = ANY) -> st.SearchStrategy[np.ndarray]:
    return npst.arrays(np.float64, SHAPES, elements=elements)


def pairs(elements: st.SearchStrategy[float] = ANY) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    one = SHAPES.map(lambda shape: npst.arrays(np.float64, shape, elements=elements))
    both = one.flatmap(lambda arrays: st.tuples(arrays, arrays))
    return both.filter(lambda pair: bool(np.isfinite(pair[1]).any()))


@PROPERTY
@given(arrays(), RELATIVE, st.floats(min_value=0.0, max_value=1e300))
def test_a_result_is_right_beside_itself(want: np.ndarray, relative: float, scale: float) -> None:
    assert right(want.copy(), want, relative=relative, scale=scale).all()


@PROPERTY
@given(pairs(), RELATIVE)
def test_infinities_and_nan_are_right_where_the_same_is_due_and_nowhere_else(
    pair: tuple[np.ndarray, np.ndarray], relative: float
) -> None:
    got, want = pair
    found = right(got, want, relative=relative, scale=rms(want))
    special = ~np.isfinite(want) | ~np.isfinite(got)
    same = (np.isnan(got) & np.isnan(want)) | (np.isinf(got) & (got == want))
    np.testing.assert_array_equal(found[special], same[special])


@PROPERTY
@given(pairs(), RELATIVE)
def test_numpy_and_torch_say_the_same(pair: tuple[np.ndarray, np.ndarray], relative: float) -> None:
    got, want = pair
    there, due = torch.from_numpy(got), torch.from_numpy(want)
    assert math.isclose(rms(want), rms(due), rel_tol=1e-9)
    scale = rms(want)
    one = right(got, want, relative=relative, scale=scale)
    np.testing.assert_array_equal(one, right(there, due, relative=relative, scale=scale).numpy())
    least, most = needed(got, want), needed(there, due)
    assert (least is None) == (most is None)
    assert least is None or most is None or math.isclose(least, most, rel_tol=1e-9)


@PROPERTY
@given(pairs(ROUND))
def test_what_is_needed_is_enough(pair: tuple[np.ndarray, np.ndarray]) -> None:
    got, want = pair
    least, scale = needed(got, want), rms(want)
    if least is None:
        assert not right(got, want, relative=1e300, scale=scale).all()
    else:
        assert right(got, want, relative=least * (1 + 1e-9), scale=scale).all()


@PROPERTY
@given(pairs(), RELATIVE, RELATIVE)
def test_a_wider_tolerance_takes_all_that_a_narrower_one_takes(
    pair: tuple[np.ndarray, np.ndarray], one: float, other: float
) -> None:
    got, want = pair
    narrow, wide = sorted((one, other))
    taken = right(got, want, relative=narrow, scale=rms(want))
    assert not (taken & ~right(got, want, relative=wide, scale=rms(want))).any()


@PROPERTY
@given(arrays(FINITE), st.sampled_from([math.inf, -math.inf, math.nan]))
def test_the_scale_comes_from_finite_elements_alone(values: np.ndarray, hole: float) -> None:
    with_hole = np.append(values.reshape(-1), hole)
    assert math.isclose(rms(with_hole), rms(values), rel_tol=1e-9)
    assert rms(values) / 2 <= np.abs(values).max() / 2 * (1 + 1e-12)


@PROPERTY
@given(arrays(FINITE))
def test_the_scale_neither_overflows_nor_vanishes(values: np.ndarray) -> None:
    assume(np.abs(values).max() > 0)
    found = rms(values)
    assert 0.0 < found < math.inf
    assert found * math.sqrt(values.size) >= np.abs(values).max() * (1 - 1e-9)


@pytest.mark.parametrize("nothing", [[math.nan], [math.inf, -math.inf], [math.nan, math.inf]])
def test_nothing_finite_is_an_error_of_the_task_in_one_sentence(nothing: list[float]) -> None:
    with pytest.raises(NothingFinite, match=r"^the float64 result of reference\.py has no finite element.*inputs`$"):
        rms(np.array(nothing))
    assert needed(np.array(nothing), np.array(nothing)) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_tolerance_is_no_finer_than_the_type_and_never_narrowed(dtype: str) -> None:
    epsilon = torch.finfo(getattr(torch, dtype)).eps
    assert correctness.EPSILON[dtype] == epsilon
    assert held_to(0.0, dtype) == 2 * epsilon
    assert held_to(0.5, dtype) == 0.5


@PROPERTY
@given(arrays(MODEST), st.sampled_from(["float16", "bfloat16", "float32"]))
def test_one_rounding_to_the_type_is_right_at_any_stated_tolerance(values: np.ndarray, dtype: str) -> None:
    rounded = torch.from_numpy(values).to(getattr(torch, dtype)).double().numpy()
    assume(np.isfinite(rounded).all())
    normal = np.abs(values) >= torch.finfo(getattr(torch, dtype)).tiny  # below it a type holds steps, not shares
    assert right(rounded, values, relative=held_to(0.0, dtype), scale=rms(values))[normal].all()


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "uint8"])
def test_integers_have_no_floor(dtype: str) -> None:
    assert held_to(0.0, dtype) == 0.0
    assert not right(np.array([4]), np.array([5.0]), relative=0.0, scale=5.0).any()


@PROPERTY
@given(pairs(), RELATIVE)
def test_what_moved_is_wrong_for_one_of_the_two(pair: tuple[np.ndarray, np.ndarray], relative: float) -> None:
    was, now = pair
    assume(np.isfinite(was).any())
    moved = correctness.moved(was, now, relative=relative)
    assert not (moved & right(now, was, relative=relative, scale=rms(was))).any()
    assert not (moved & right(was, now, relative=relative, scale=rms(now))).any()
    assert not correctness.moved(was, was.copy(), relative=relative).any()


def test_what_stays_within_two_tolerances_has_not_moved() -> None:
    was, now = np.array([1.0, 1.0, math.inf]), np.array([1.3, 3.0, -math.inf])
    assert correctness.moved(was, now, relative=0.1).tolist() == [False, True, True]
    assert correctness.moved(was, now, relative=0.1, least_scale=20.0).tolist() == [False, False, True]


def test_effective_bits_are_those_of_the_finite_elements() -> None:
    want = np.array([1.0, 2.0, -math.inf, math.nan])
    assert effective_bits(want.copy(), want) == correctness.MOST_BITS
    assert effective_bits(np.array([1.0, 2.5, -math.inf, math.nan]), want) == pytest.approx(math.log2(math.sqrt(20)))
    assert effective_bits(np.array([1.0, math.inf, -math.inf, math.nan]), want) is None
    assert effective_bits(np.zeros(2), np.zeros(2)) is None


def test_the_page_says_the_floors_that_count() -> None:
    page = " ".join((Path(__file__).parents[1] / "docs/correctness.md").read_text(encoding="utf-8").split())
    for dtype in ("float32", "float16", "bfloat16"):
        mantissa, exponent = f"{correctness.floor(dtype):.1e}".split("e")
        assert f"{mantissa}e{int(exponent)} for {dtype}" in page
