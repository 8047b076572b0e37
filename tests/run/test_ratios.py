"""The interval covers what is true as often as it says, with drift, outliers and an early stop."""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

from audit.run.timing.blocks import COLD
from audit.run.timing.ratios import LEAST_BLOCKS, SAME, Ratio, Samples, _ranks, interval, ratio

ROOT = Path(__file__).resolve().parents[2]
RESULTS = json.loads((ROOT / "bench" / "results" / "coverage.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench_coverage", ROOT / "bench" / "coverage.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def samples(*by_block: tuple[float, ...]) -> Samples:
    made = Samples()
    for block, times_ms in enumerate(by_block):
        made.add(list(times_ms), block=block, position=0)
    return made


def test_the_interval_covers_the_true_ratio_where_the_session_stops_by_its_width(bench: Any) -> None:
    names = ("jitter of blocks, 1.4 %", "steps", "slow kernels, drift, steps, late", "everything")
    found = [bench.covered(bench.SCENES[name], 120) for name in names]
    assert 93 <= sum(one["covered"] for one in found) / len(found) <= 97
    assert len({one["blocks"] for one in found}) > 1, "the noise decides how long a session goes on"


def test_the_published_simulation_is_of_these_scenes_and_within_93_to_97_percent(bench: Any) -> None:
    assert RESULTS["sessions"] >= 4000
    assert RESULTS["scenes"].keys() == bench.SCENES.keys()
    assert all(93 <= one["covered"] <= 97 for one in RESULTS["scenes"].values())


@pytest.mark.parametrize("blocks", [10, 11, 14, 40])
def test_the_interval_covers_after_a_fixed_number_of_blocks(blocks: int) -> None:
    draw = Random(blocks)
    made = [interval(samples(*((draw.lognormvariate(0, 0.02),) for _ in range(blocks)))) for _ in range(3000)]
    assert 0.955 <= sum(low <= 1 <= high for low, high in filter(None, made)) / 3000 <= 0.975


def test_the_ranks_are_those_of_the_sign_test_and_move_inward_with_more_blocks() -> None:
    share = (1 - 22 / 1024 - 0.965) / ((112 - 22) / 1024)  # of the way from rank 2, which covers more, to rank 3
    assert _ranks(10) == (2, pytest.approx(8 * share / (2 + 6 * share)))
    assert _ranks(5) == (1, 0.0), "all five values cover 93.75 %, and there are no wider ones"
    inward = [outer + part for outer, part in map(_ranks, range(10, 200))]
    assert all(later >= earlier for earlier, later in pairwise(inward))


def test_a_callable_against_itself_is_the_same_and_a_real_difference_is_seen(bench: Any) -> None:
    def words(times: float) -> set[str]:
        made = [bench.session(bench.SCENES["drift"], seed).taken for seed in range(20)]
        scaled = [Samples([times * bench.TRUE * ms for ms in one[bench.OURS][COLD].samples_ms],
                          one[bench.OURS][COLD].blocks) for one in made]  # fmt: skip
        return {ratio(ours, one[bench.THEIRS][COLD]).word for ours, one in zip(scaled, made, strict=True)}

    assert words(1.0) == {"same"}
    assert words(0.94) == {"faster"}
    assert words(1.06) == {"slower"}


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


def test_the_ratio_is_the_median_of_paired_blocks() -> None:
    ours, theirs = samples((1.0, 1.2, 9.0), (2.0,), (4.0,)), samples((2.4,), (6.0, 6.0), (8.0,), (99.0,))
    assert ratio(ours, theirs) == Ratio(2.0, None, None, 3), "2.4 / 1.2, 6 / 2, 8 / 4; the fourth block is of one alone"
    clock = [1 + 0.1 * block for block in range(12)]
    drifting = samples(*((ms,) for ms in clock)), samples(*((2 * ms,) for ms in clock))
    assert ratio(*drifting) == Ratio(2.0, 2.0, 2.0, 12), "both share the drift"


def test_too_few_blocks_and_a_wide_interval_are_inconclusive_with_the_reason() -> None:
    few = ratio(samples(*[(1.0,)] * (LEAST_BLOCKS - 1)), samples(*[(9.0,)] * 40))
    assert (few.low, few.word) == (None, "inconclusive")
    assert "too few blocks with samples of both: 9, and 10" in (few.doubt or "")
    wide = Ratio(9.0, 8.0, 10.0, 40)
    assert (wide.word, "11.1 %" in (wide.doubt or "")) == ("inconclusive", True)


def test_one_block_and_equal_samples_are_inconclusive_with_the_reason() -> None:
    one = ratio(samples((1.0, 1.1)), samples((9.0, 9.1)))
    assert (one.word, one.doubt) == ("inconclusive", "too few blocks with samples of both: 1, and 10 are needed")
    steps = samples(*((9.0 + block % 2 / 100,) for block in range(12)))
    equal = ratio(samples(*[(1.0,)] * 12), steps)
    assert (equal.word, equal.low, equal.high) == ("inconclusive", 9.0, 9.01)
    assert (equal.doubt or "").startswith("all samples of one of the two are equal")


def test_single_samples_of_a_clock_that_jumps_move_no_ratio_and_many_make_it_inconclusive() -> None:
    ours, theirs = ([(ms * (1 + block % 3 / 1000),) for block in range(12)] for ms in (1.0, 9.0))
    steady = ratio(samples(*ours), samples(*theirs))
    one = ratio(samples(*ours), samples(*theirs[:-1], (8e8,)))
    assert (one.word, round(one.value, 6)) == (steady.word, 9.0) == ("faster", 9.0)
    many = ratio(samples(*ours), samples(*theirs[:-4], *[(8e8,)] * 4))
    assert (many.word, "the interval is wide" in (many.doubt or "")) == ("inconclusive", True)


def test_samples_without_blocks_give_a_ratio_and_no_interval() -> None:
    bare = ratio(Samples([1.0, 3.0, 2.0]), Samples([5.0, 4.0, 6.0]))
    assert (bare.value, bare.low, bare.word) == (2.5, None, "inconclusive")


def test_the_interval_of_a_time_is_that_of_its_blocks() -> None:
    draw = Random(3)
    taken = samples(*((draw.gauss(1, 0.01), draw.gauss(1, 0.01)) for _ in range(40)))
    low, high = interval(taken) or (0.0, 0.0)
    assert low < median(taken.samples_ms) < high
    assert interval(samples((1.0,))) is None
