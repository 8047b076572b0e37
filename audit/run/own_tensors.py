"""Runs in a child: a result as one of torch's own tensors, where its class adds nothing to that.

A subclass of any other kind may compute what it holds when it is read, after the clock has stopped: it stays as it is.
What decides is taken before claimed code may put something else in its place.
"""

from __future__ import annotations

from typing import Any

import torch

ADDS_NOTHING = frozenset({
    "__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__", "__slots__",
    "__static_attributes__", "__weakref__",
})  # fmt: skip
"""What Python puts into a class whose body is empty."""
_Tensor, _Parameter, _Metaclass = torch.Tensor, torch.nn.Parameter, type(torch.Tensor)
_bases, _members = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
_detach, _Undisturbed = torch.Tensor.detach, torch._C.DisableTorchFunctionSubclass


def own(result: Any) -> Any:
    """The same memory as a plain tensor, for a parameter of a module and for subclasses that define nothing."""
    kind = type(result)
    if kind is _Tensor or not (kind is _Parameter or _adds_nothing(kind)):
        return result
    with _Undisturbed():
        return _detach(result)


def spanned(tensor: torch.Tensor) -> torch.Tensor:
    """The memory from the first to the last element of a tensor of any strides, as a vector in one piece."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.detach().as_strided((1 + reach if tensor.numel() else 0,), (1,))


def _adds_nothing(kind: type) -> bool:
    bases = _bases(kind)
    if _Tensor not in bases or type(kind) is not _Metaclass:
        return False
    added = bases[: bases.index(_Tensor)]
    return all(ADDS_NOTHING.issuperset(_members(one)) for one in added)
