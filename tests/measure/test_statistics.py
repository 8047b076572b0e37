"""The interval covers what is true as often as it says, with drift and outliers; the words follow from it alone."""

from __future__ import annotations

import numpy as np
import pytest

from audit.measure.statistics import LEAST_BLOCKS, SAME, Ratio, Series, interval, order_effect, outliers, ratio


def session(seed: int, true_ratio: float, *, blocks: int = 40, each: int = 4) -> tuple[Series, Series]:
    """Two callables in blocks whose clock drifts by 6 % and jumps, with 3 % of samples up to five times too long."""
    draw = np.random.RandomState(seed)
    clock = 1 + 0.06 * np.linspace(0, 1, blocks) + 0.02 * draw.randn(blocks)
    numbers = tuple(int(block) for block in np.repeat(np.arange(blocks), each))

    def samples(base_ms: float) -> tuple[float, ...]:
        times = base_ms * clock[list(numbers)] * (1 + 0.01 * draw.randn(blocks * each))
        late = draw.rand(blocks * each) < 0.03
        return tuple(float(ms) for ms in np.where(late, times * (1 + 4 * draw.rand(blocks * each)), times))

    return Series(samples(0.3), numbers), Series(samples(0.3 * true_ratio), numbers)


@pytest.mark.parametrize("true_ratio", [1.0, 2.5])
def test_the_interval_covers_the_true_ratio_about_as_often_as_it_says(true_ratio: float) -> None:
    found = [ratio(*session(seed, true_ratio)) for seed in range(200)]
    covered = sum(one.low <= true_ratio <= one.high for one in found if one.low and one.high)
    assert 0.90 <= covered / len(found) <= 0.995
    widths = [one.half_width for one in found if one.half_width is not None]
    assert len(widths) == len(found)
    assert max(widths) < 0.02, "blocks share their clock, so its drift is not in the ratio"


def test_a_callable_against_itself_is_the_same_and_a_real_difference_is_seen() -> None:
    words = [ratio(*session(seed, 1.0)).word for seed in range(100)]
    assert words.count("faster") + words.count("slower") == 0
    assert words.count("same") >= 99
    assert {ratio(*session(seed, 1.06)).word for seed in range(20)} == {"faster"}
    assert {ratio(*session(seed, 0.94)).word for seed in range(20)} == {"slower"}


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (1.03, 1.05, "faster"),
        (0.95, 0.97, "slower"),
        (0.99, 1.01, "same"),
        (1.01, 1.03, "inconclusive"),
        (0.97, 1.03, "inconclusive"),
    ],
)
def test_words(low: float, high: float, word: str) -> None:
    assert Ratio((low + high) / 2, low, high, 40).word == word
    assert SAME == 0.02


def test_too_few_blocks_and_a_wide_interval_are_inconclusive_with_the_reason() -> None:
    few = ratio(*session(1, 9.0, blocks=LEAST_BLOCKS - 1))
    assert (few.low, few.word) == (None, "inconclusive")
    assert "too few samples: 9 blocks" in (few.doubt or "")
    wide = Ratio(9.0, 8.0, 10.0, 40)
    assert (wide.word, "11.1 %" in (wide.doubt or "")) == ("inconclusive", True)


def test_samples_without_blocks_give_a_ratio_and_no_interval() -> None:
    bare = ratio(Series((1.0, 3.0, 2.0)), Series((5.0, 4.0, 6.0)))
    assert (bare.value, bare.low, bare.word) == (2.5, None, "inconclusive")


def test_only_blocks_of_both_count_and_the_median_is_that_of_the_samples() -> None:
    ours, theirs = session(3, 2.0)
    part = Series(theirs.samples_ms[:80], theirs.blocks[:80])
    assert ratio(ours, part).blocks == 20
    assert ratio(ours, theirs).value == np.median(theirs.samples_ms) / np.median(ours.samples_ms)
    low, high = interval(ours) or (0.0, 0.0)
    assert low <= np.median(ours.samples_ms) <= high


def test_equal_samples_give_an_interval_without_width() -> None:
    blocks = tuple(range(12))
    found = ratio(Series((0.5,) * 12, blocks), Series((1.0,) * 12, blocks))
    assert (found.low, found.high, found.word) == (2.0, 2.0, "faster")


def test_order_and_outliers_are_told() -> None:
    late = Series((1.0, 1.0, 1.2, 1.2), (0, 1, 2, 3), (0, 0, 5, 5))
    assert order_effect(late) == pytest.approx(0.2)
    assert order_effect(Series((1.0, 2.0))) is None
    assert outliers((1.0, 1.01, 1.02, 1.0, 1.01, 9.0)) == 1
