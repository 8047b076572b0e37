"""Count the work of an imported task by running it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Sizes = Mapping[str, int]
ELEMENT_COST = 4
"""The cost of one result element on the emulated device, in multiplications: a thread, its loads and a store."""
FAR = 2


class _Counter(TorchFunctionMode):
    """Counts operations: ELEMENT_COST for each element of a result, and the multiplications of products."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        given = [one.untyped_storage()._cdata for one in _tensors(args)]
        fresh = [one for one in _tensors(made) if one.untyped_storage()._cdata not in given]
        self.operations += ELEMENT_COST * sum(one.numel() for one in fresh)
        count = _PRODUCTS.get(getattr(function, "__name__", ""))
        if count is not None and fresh:
            self.operations += count(fresh[0].numel(), list(_tensors(args)))
        return made


def counted(compute: Callable[[], object]) -> int | None:
    """Return the operations of a computation, see `_Counter`; None where it raises."""
    counter = _Counter()
    try:
        with counter:
            compute()
    except Exception:  # the file may raise anything
        return None
    return counter.operations


def weighed(shapes: Sequence[Sizes], most: int, *, work: Callable[[Sizes], int | None]) -> Iterator[int | None]:
    """Yield the work at each shape in descending order of size, the last first; None where it is unknown, or expected
    to be far above `most`: work is expected to grow with the largest ratio of two sizes, and a shape is skipped where
    that comes to more than FAR times `most`."""
    known: tuple[int, Sizes] = (0, shapes[-1])
    for shape in reversed(shapes):
        ratio = max(size / known[1][name] for name, size in shape.items())
        amount = work(shape) if known[0] * ratio <= FAR * most else None
        known = known if amount is None else (amount, shape)
        yield amount


def _tensors(values: object) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for one in values:
            yield from _tensors(one)


Count = Callable[[int, list[torch.Tensor]], int]
_COUNTS: dict[tuple[str, ...], Count] = {
    ("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "addmm", "baddbmm", "addbmm", "dot"): (
        lambda result, given: result * given[-2].shape[-1] if len(given) > 1 and given[-2].dim() else 0
    ),
    ("linear",): lambda result, given: result * given[1].shape[-1],
    ("conv1d", "conv2d", "conv3d"): lambda result, given: result * math.prod(given[1].shape[1:]),
    ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"): (
        lambda _, given: given[0].numel() * math.prod(given[1].shape[1:])
    ),
    ("scaled_dot_product_attention",): lambda result, given: 2 * result * given[1].shape[-2],
    ("einsum",): lambda result, given: math.isqrt(math.prod((result, *(one.numel() for one in given)))),
}
"""The multiplications of torch's functions, from the elements of the result and the given tensors. For a matrix product
the row length of the second last tensor for each element of the result; for a transposed convolution the filters of its
channel for each element of the input; for an `einsum` a bound, the root of the product of all numbers of elements."""
_PRODUCTS = {name: count for names, count in _COUNTS.items() for name in names}
