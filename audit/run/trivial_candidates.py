"""Runs in a child: trivial candidates, results known without the answer, held against what is right.

A kernel that returns one of them has computed nothing: zeros, one number fixed before the inputs are drawn, the right
result for other inputs, an input itself. Where one is right, the inputs say nothing about a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from audit.run import correctness


def wrong_elements(
    want: torch.Tensor,
    *,
    others: Sequence[torch.Tensor],
    inputs: Sequence[Any],
    relative: float,
    least_scale: float = 0.0,
) -> dict[str, int]:
    """How many elements of each candidate are wrong, by its name.

    Args:
        want: what is right, float64.
        others: what is right for other inputs, float64; of several the one nearest to `want` counts.
        inputs: the arguments `want` is right for.
        relative: the tolerance that counts.
        least_scale: stands for the size of `want` where that is smaller.
    """
    scale, counts = max(least_scale, correctness.rms(want)), dict[str, int]()
    for name, one in _candidates(want, others, inputs):
        wrong = int((~correctness.right(one, want, relative=relative, scale=scale)).sum())
        counts[name] = min(wrong, counts.get(name, wrong))
    return counts


def copies(want: torch.Tensor, inputs: Sequence[Any]) -> set[str]:
    """The names of the inputs that `want` holds number for number."""
    return {name for name, one in _inputs(want, inputs) if bool(correctness.same(one, want).all())}


def one_number(want: torch.Tensor, relative: float) -> bool:
    """Whether several elements are all right as one and the same number."""
    finite = want[want.isfinite()]
    middle = float(finite.mean()) if len(finite) else 0.0
    scale = correctness.rms(want)
    return want.numel() > 1 and bool(correctness.right(middle, want, relative=relative, scale=scale).all())


def _candidates(
    want: torch.Tensor, others: Sequence[torch.Tensor], inputs: Sequence[Any]
) -> Iterator[tuple[str, torch.Tensor | float]]:
    yield "zeros", 0.0
    for other in others:
        finite = other[other.isfinite()]
        if len(finite):
            yield "constant", float(finite.mean())
        if other.shape == want.shape:
            yield "previous_output", other
    yield from _inputs(want, inputs)


def _inputs(want: torch.Tensor, inputs: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for index, x in enumerate(inputs):
        if isinstance(x, torch.Tensor) and x.shape == want.shape and not x.is_complex():
            yield f"input_{index}", x.to(want.device, torch.float64)
