"""Writes that no version counter sees, on this machine's memory and, where there is one, a GPU's."""

from __future__ import annotations

import pytest
import torch

from audit.run.calls import raw_memory
from audit.run.calls.arguments import Arguments

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


def results() -> dict[str, torch.Tensor]:
    values = torch.arange(24.0).reshape(4, 6)
    complex_values = torch.complex(values, -values)
    return {
        "dense": values,
        "transposed": values.t(),
        "every other column, behind an offset": values[1:, 1::2],
        "one row for all": values[0].expand(5, 6),
        "overlapping": values.as_strided((3, 4), (1, 1), 2),
        "a number": torch.tensor(3.5),
        "bfloat16": values.bfloat16(),
        "bool": values > 7,
        "negated later": complex_values.conj().imag,
        "conjugated later": complex_values.conj(),
        "with gradient": values.clone().requires_grad_(),
    }


@pytest.mark.parametrize("name", results())
def test_a_result_is_taken_as_it_is(name: str) -> None:
    result = results()[name]
    (copy,) = raw_memory.taken((result,))
    before = result.detach().clone()
    assert torch.equal(copy, before)
    assert copy.dtype == before.dtype
    result.detach().untyped_storage().fill_(1)
    assert torch.equal(copy, before)


def test_no_result_is_taken_without_values_on_the_host() -> None:
    assert raw_memory.taken((torch.empty(3, device="meta"),)) == ()
    assert raw_memory.taken((torch.ones(3), torch.empty(3, device="meta"))) == ()
    assert raw_memory.taken(()) == ()


def test_an_empty_result_hides_no_other() -> None:
    whole = torch.ones(3)
    nothing, copy = raw_memory.taken((torch.empty(0, 4), whole))
    whole.zero_()
    assert (nothing.shape, copy.tolist()) == ((0, 4), [1, 1, 1])


def test_a_copy_that_torch_makes_later_stays_one() -> None:
    later = torch._lazy_clone(torch.ones(3))
    (copy,) = raw_memory.taken((later,))
    assert torch.equal(copy, torch.ones(3))
    assert torch._C._is_cow_tensor(later)


def test_only_a_tensor_of_torchs_own_class_is_plain() -> None:
    assert raw_memory.is_plain(torch.nn.Parameter(torch.ones(3)))
    assert not raw_memory.is_plain(torch.ones(3).to_sparse())
