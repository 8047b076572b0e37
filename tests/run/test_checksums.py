"""Checksums of a GPU's memory: any change shows, and the allocator hands out what it would have without them."""

from __future__ import annotations

import pytest
import torch

from audit.run.calls.raw_memory import CHUNK, WORD_BYTES, Checksums

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_memory_of_the_host_has_none() -> None:
    assert Checksums().of(torch.ones(3)) is None


@gpu
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000, WORD_BYTES * CHUNK - 1, WORD_BYTES * CHUNK + 17])
def test_a_changed_byte_shows_wherever_it_is(size: int) -> None:
    sums = Checksums()
    data = torch.randint(0, 256, (size,), dtype=torch.uint8, device="cuda")
    before = sums.of(data)
    assert before == sums.of(data.clone())
    places = sorted({0, size // 3, size - 1} & set(range(size)))
    assert places or not size
    for place in places:
        data[place] ^= 1
        assert sums.of(data) != before, place
        data[place] ^= 1


@gpu
def test_exchanged_words_show() -> None:
    sums = Checksums()
    data = torch.arange(3 * CHUNK, device="cuda")
    before = sums.of(data)
    data[[1, 2 * CHUNK]] = data[[2 * CHUNK, 1]]
    assert sums.of(data) != before


@gpu
def test_only_plain_tensors_in_one_piece_have_one() -> None:
    data = torch.zeros(4, 4, device="cuda")
    assert Checksums().of(data.mT) is None
    assert Checksums().of(torch.nn.Parameter(data)) is None


@gpu
def test_fresh_memory_is_what_it_would_have_been() -> None:
    sums = Checksums()
    kept = torch.full((1 << 20,), 7.0, device="cuda")
    freed = torch.full((1 << 22,), 3.0, device="cuda")
    place = freed.data_ptr()
    del freed
    sums.of(kept)
    fresh = torch.empty(1 << 22, device="cuda")
    assert fresh.data_ptr() == place
    assert bool((fresh == 3.0).all())
