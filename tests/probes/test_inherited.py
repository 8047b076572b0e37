"""Which elements a freed block gave to a result, by their bits alone."""

from __future__ import annotations

import numpy as np
import pytest

from audit.probes.inherited import conclude, equal_to
from audit.run.messages.requests import PLANTED_BYTES


def answer(count: int, by_chance: float) -> str:
    seen = {"shape": {"N": 8}, "elements": 5000, "elements_inherited": count, "share": 0.0, "by_chance": by_chance}
    return conclude(seen).outcome


@pytest.mark.parametrize("steady", [True, False], ids=["the same codes in each call", "other codes in each call"])
def test_wrong_codes_of_one_byte_meet_random_ones_by_chance(steady: bool) -> None:
    random = np.random.default_rng(3)
    block = random.integers(*PLANTED_BYTES, 5000).astype(np.uint8)
    result, other = (random.integers(0, 256, 5000).astype(np.uint8) for _ in range(2))
    count, by_chance = equal_to(block, result, result if steady else other, np.ones(5000, bool))
    assert (count > 0) is not steady
    assert answer(count, by_chance) == "pass"


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_elements_left_in_the_block_are_more_than_chance_gives(dtype: type) -> None:
    random, size = np.random.default_rng(3), np.dtype(dtype).itemsize
    block = random.integers(*PLANTED_BYTES, 5000 * size).astype(np.uint8).view(dtype)
    computed = random.integers(0, 256, 5000 * size).astype(np.uint8).view(dtype)
    left = np.where(np.arange(5000) % 16 == 0, block, computed)
    wrong = np.ones(5000, bool)
    count, by_chance = equal_to(block, left, np.zeros(5000, dtype), wrong)
    assert count >= 5000 // 16
    assert answer(count, by_chance) == "fail"


def test_a_right_element_is_not_inherited() -> None:
    block = np.full(4, 0x71717171, np.uint32)
    assert equal_to(block, block, np.zeros(4, np.uint32), np.zeros(4, bool)) == (0, 0.0)


def test_elements_of_many_bytes_are_compared_byte_by_byte() -> None:
    block = np.full((4, 16), PLANTED_BYTES[0], np.uint8)
    result = block.copy()
    result[2:] = 0
    assert equal_to(block, result, np.zeros((4, 16), np.uint8), np.ones(4, bool)) == (2, 2e-16)
