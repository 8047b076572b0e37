"""What is planted in freed memory, and what is left alone."""

from __future__ import annotations

import torch

from audit.run.planted import SPOILED, spoiled


def test_a_spoiled_result_is_a_copy_and_what_the_claim_keeps_stays() -> None:
    kept = torch.ones(64)
    held: dict[int, object] = {3: kept}
    copy = spoiled(held, 3)
    assert isinstance(copy, torch.Tensor)
    assert (held, bool((kept == 1).all())) == ({}, True)
    assert int((copy != 1).sum()) == 1 + 64 // SPOILED


def test_every_output_of_several_is_spoiled() -> None:
    copies = spoiled({0: (torch.ones(4), torch.zeros(2, 2))}, 0)
    assert isinstance(copies, tuple)
    assert [one.shape for one in copies] == [(4,), (2, 2)]
