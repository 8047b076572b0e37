"""What is planted in freed memory, and what is left alone."""

from __future__ import annotations

import torch

from audit.run.sessions.call_patterns import BARELY_SPOILED, SPOILED, spoiled


def test_a_spoiled_result_is_a_copy_and_what_the_claim_keeps_stays() -> None:
    kept = torch.ones(64)
    held: dict[int, object] = {3: kept}
    copy = spoiled(held, 3)
    assert isinstance(copy, torch.Tensor)
    assert (held, bool((kept == 1).all())) == ({}, True)
    assert int((copy != 1).sum()) == 1 + 64 // SPOILED


def test_blocks_with_many_and_with_few_changed_elements_are_freed(monkeypatch) -> None:
    made: list[torch.Tensor] = []
    clone = torch.Tensor.clone
    monkeypatch.setattr(torch.Tensor, "clone", lambda self: made.append(clone(self)) or made[-1])
    told = spoiled({0: torch.ones(BARELY_SPOILED)}, 0)
    changed = [(each != 1).nonzero()[:, 0].tolist() for each in made]
    assert [len(each) for each in changed] == [1 + BARELY_SPOILED // SPOILED, 2] * (len(changed) // 2)
    assert all(set(each) <= set(changed[0]) for each in changed)
    assert isinstance(told, torch.Tensor)
    assert torch.equal(told, made[0])
    assert told.untyped_storage().nbytes() == 2 * made[0].untyped_storage().nbytes()


def test_every_output_of_several_is_spoiled() -> None:
    copies = spoiled({0: (torch.ones(4), torch.zeros(2, 2))}, 0)
    assert isinstance(copies, tuple)
    assert [one.shape for one in copies] == [(4,), (2, 2)]
