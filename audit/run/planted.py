"""Runs in a child: plant values in memory that is then freed, so that a result read from there is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from audit.run.outputs import outputs_of, own

Function = Callable[..., Any]
PLANTED_BLOCKS = 3
PLANTED_BYTES = (0x71, 0x7B)
SPOILED, BARELY_SPOILED = 16, 2048
"""One element in so many is overwritten, in every other block of the few: of a claim that looks at samples first, the
many alone would be noticed."""


def planted(reference: Function) -> Function:
    """Return a function that fills several blocks of the size of each output of the reference with the same values.

    Several, since the reference frees blocks of that size too, and the allocator may hand out any of them next.
    """

    def filled(like: torch.Tensor) -> torch.Tensor:
        size = like.numel() * like.element_size()
        generator = torch.Generator(like.device).manual_seed(1)
        values = _random_bytes((size,), like, generator)
        more = [torch.empty(size, dtype=torch.uint8, device=like.device) for _ in range(PLANTED_BLOCKS)]
        blocks = [like.contiguous().reshape(-1).view(torch.uint8), *more]
        return [block.copy_(values) for block in blocks][-1].view(like.dtype).view(like.shape)

    def call(*inputs: Any) -> Any:
        made = tuple(filled(like) for like in outputs_of(own(reference(*inputs))))
        return made if len(made) > 1 else made[0]

    return call


def spoiled(held: dict[int, object], of: int) -> object:
    """Free an earlier result, and fill blocks of its size with a copy in which a few elements are overwritten.

    The result itself is not written to: its memory may be a buffer that the claim keeps and returns again.

    Args:
        held: the results of earlier steps; that one is taken out.
        of: the step of that result.

    Returns:
        The copy of each output.

    Raises:
        RuntimeError: an output is no dense tensor.
    """
    outputs = outputs_of(held[of])
    changed = tuple(_changed(each, SPOILED) for each in outputs)
    barely = tuple(_changed(each, BARELY_SPOILED) for each in outputs)
    del held[of]  # the first of the next blocks lies where it lay, unless the claim keeps it
    del outputs
    copies = [each.clone() for pair in zip(changed, barely, strict=True) for each in pair * PLANTED_BLOCKS]
    told = tuple(_in_a_larger_block(each) for each in changed)
    del changed, copies, barely
    return told if len(told) > 1 else told[0]


def _in_a_larger_block(output: torch.Tensor) -> torch.Tensor:
    """Return a copy whose block, freed last of all, goes to no request of the size of an output."""
    block = torch.empty(2 * output.numel(), dtype=output.dtype, device=output.device)
    return block[: output.numel()].view(output.shape).copy_(output)


def _changed(output: torch.Tensor, one_in: int) -> torch.Tensor:
    result = output.clone()
    data = result.view(-1).view(torch.uint8).view(-1, result.element_size())
    generator = torch.Generator(result.device).manual_seed(2)
    all_of_them = torch.randperm(len(data), device=result.device, generator=generator)
    few = all_of_them[: 1 + len(data) // SPOILED]
    values = _random_bytes((len(few), result.element_size()), result, generator)
    fewer = 1 + len(data) // one_in
    data[few[:fewer]] = values[:fewer]
    return result


def _random_bytes(shape: Sequence[int], like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return bytes of large numbers in every format: among millions of elements, small ones may equal a result's."""
    return torch.randint(*PLANTED_BYTES, tuple(shape), dtype=torch.uint8, device=like.device, generator=generator)
