"""Writes that no version counter sees, on this machine's memory and, where there is one, a GPU's."""

from __future__ import annotations

import pytest
import torch

from audit.run import raw_memory
from audit.run.arguments import Arguments

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]
VALUES = torch.arange(12.0).view(3, 4)
TARGETS = {
    "in one piece": torch.zeros_like,
    "transposed": lambda x: torch.zeros_like(x.mT.contiguous()).mT,
    "with gaps": lambda x: torch.zeros(3, 8, device=x.device)[:, ::2],
    "repeated": torch.zeros_like,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layout", TARGETS)
def test_a_raw_write_moves_no_version(layout: str, device: str) -> None:
    source = VALUES.to(device) if layout != "repeated" else torch.ones(1, 4, device=device).expand(3, 4)
    target = TARGETS[layout](source)
    before = target._version
    raw_memory.write(target, source)
    assert torch.equal(target, source)
    assert target._version == before


@pytest.mark.parametrize("device", DEVICES)
def test_layouts_that_agree_are_written_as_they_lie(device: str) -> None:
    source = torch.randn(4, 3, 5, 5).to(memory_format=torch.channels_last).to(device)
    target = torch.empty_like(source)
    raw_memory.write(target, source)
    assert torch.equal(target, source)


def test_from_host_to_device_and_nothing_at_all() -> None:
    raw_memory.write(torch.empty(0), torch.empty(0))
    target = torch.zeros(3, 4, device="cuda" if torch.cuda.is_available() else "cpu")
    raw_memory.write(target, VALUES)
    assert torch.equal(target.cpu(), VALUES)


@pytest.mark.parametrize("source", [torch.zeros(4, 3), torch.zeros(3, 4, dtype=torch.float64)])
def test_another_shape_or_type_is_refused(source: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"into torch\.float32"):
        raw_memory.write(torch.zeros(3, 4), source)


def test_a_case_changes_its_buffers_past_the_version_counter() -> None:
    case = Arguments([VALUES.clone(), 0.5], torch.clone)
    (buffer, _), other = case.fill(case.values), [VALUES + 1, 0.25]
    before = buffer._version
    again, number = case.fill(other)
    assert again is buffer
    assert (buffer._version, number) == (before, 0.25)
    assert torch.equal(buffer, VALUES + 1)


def test_a_tensor_of_another_shape_gets_a_buffer_of_its_own() -> None:
    case = Arguments([VALUES.clone()], torch.clone)
    (other,) = case.fill([torch.ones(2, 2)])
    assert torch.equal(other, torch.ones(2, 2))
    assert torch.equal(case.fill(case.values)[0], VALUES)


def test_freed_memory_is_asked_for_again() -> None:
    blocks = [torch.zeros(3, 4) for _ in range(4)]
    case = Arguments([VALUES.clone()], lambda _: blocks.pop())
    wanted = blocks[0].data_ptr()
    (found,) = case.fresh(at=[wanted])
    assert found.data_ptr() == wanted
