"""Runs in a child: how much work an imported task is at some sizes, found by running it there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Sizes = Mapping[str, int]
AN_ELEMENT = 4
"""Multiplications that take the emulated device as long as an element of a result: a thread, its loads and a store."""
FAR = 2


class _Counter(TorchFunctionMode):
    """Counts what functions do: AN_ELEMENT operations for each element of a result, and the products behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        given = [one.untyped_storage()._cdata for one in _tensors(args)]
        fresh = [one for one in _tensors(made) if one.untyped_storage()._cdata not in given]
        self.operations += AN_ELEMENT * sum(one.numel() for one in fresh)
        count = _PRODUCTS.get(getattr(function, "__name__", ""))
        if count is not None and fresh:
            self.operations += count(fresh[0].numel(), list(_tensors(args)))
        return made


def counted(compute: Callable[[], object]) -> int | None:
    """Elements made, each as AN_ELEMENT multiplications, and those of products; None where it raises."""
    counter = _Counter()
    try:
        with counter:
            compute()
    except Exception:  # the file may raise anything
        return None
    return counter.operations


def weighed(shapes: Sequence[Sizes], most: int, *, work: Callable[[Sizes], int | None]) -> Iterator[int | None]:
    """The work at each shape, the last first; None from where on it is far above `most`, and where it is not known.

    Args:
        shapes: each as large as the next one or larger.
        most: the most work that matters. Work grows with the largest ratio of two sizes, but for the share that another
            size decides: a shape is left out where that growth comes to FAR times `most`.
        work: what a shape takes, see `counted`.
    """
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


def _inner(result: int, given: list[torch.Tensor]) -> int:
    """Of a product: as many multiplications an element as the second last tensor's rows are long."""
    return result * given[-2].shape[-1] if len(given) > 1 and given[-2].dim() else 0


def _linear(result: int, given: list[torch.Tensor]) -> int:
    return result * given[1].shape[-1]


def _convolved(result: int, given: list[torch.Tensor]) -> int:
    return result * math.prod(given[1].shape[1:])


def _spread(_: int, given: list[torch.Tensor]) -> int:
    """Of a transposed convolution: every element of the input meets the filters of its channel."""
    return given[0].numel() * math.prod(given[1].shape[1:])


def _attended(result: int, given: list[torch.Tensor]) -> int:
    return 2 * result * given[1].shape[-2]


def _summed(result: int, given: list[torch.Tensor]) -> int:
    """Of an `einsum`: at most what its tensors have in common, the root of the product of all elements."""
    return math.isqrt(math.prod((result, *(one.numel() for one in given))))


def _named(count: Callable[[int, list[torch.Tensor]], int], names: Iterable[str]) -> dict[str, Any]:
    return dict.fromkeys(names, count)


_PRODUCTS: dict[str, Callable[[int, list[torch.Tensor]], int]] = {
    **_named(_inner, ("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "addmm", "baddbmm", "addbmm", "dot")),
    **_named(_linear, ("linear",)),
    **_named(_convolved, ("conv1d", "conv2d", "conv3d")),
    **_named(_spread, ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")),
    **_named(_attended, ("scaled_dot_product_attention",)),
    **_named(_summed, ("einsum",)),
}
"""The multiplications of a function, from the elements of its result and the tensors it is given."""
