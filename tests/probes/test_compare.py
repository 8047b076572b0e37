import numpy as np
import pytest

from audit.model import Tolerance
from audit.probes.compare import compare, number

TOLERANCE = Tolerance(relative=1e-4, reason="a test")
WANT = np.arange(1.0, 13.0).reshape(3, 4)


def test_equal_is_right_and_says_nothing_of_an_element() -> None:
    result = compare(WANT.copy(), WANT, TOLERANCE)
    assert result.right
    assert (result.index, result.expected, result.got) == (None, None, None)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 99.0])
def test_one_bad_element_is_wrong_and_named(bad: float) -> None:
    got = WANT.copy()
    got[1, 2] = bad
    result = compare(got, WANT, TOLERANCE)
    assert (result.right, result.elements_wrong, result.index, result.expected) == (False, 1, (1, 2), 7.0)
    assert result.evidence()["got"] == number(bad)


def test_tolerance_scales_with_the_values_and_not_with_their_unit() -> None:
    off = WANT * (1 + 5e-5)
    assert compare(off, WANT, TOLERANCE).right
    assert compare(off * 1e-9, WANT * 1e-9, TOLERANCE).right
    assert not compare(WANT * 1e-9 + 1e-9, WANT * 1e-9, TOLERANCE).right


def test_all_zero_expected_allows_only_zero() -> None:
    zeros = np.zeros((2, 2))
    assert compare(zeros, zeros, TOLERANCE).right
    assert compare(zeros + 1e-30, zeros, TOLERANCE).elements_wrong == 4
