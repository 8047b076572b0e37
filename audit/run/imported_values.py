"""Runs in a child: values of an imported task, on their way between a stranger's file and the audit."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from audit.run.imported_file import Sizes, as_on_a_gpu

Arguments = list[Any]


def one_tensor(value: Any) -> torch.Tensor:
    """The one tensor of a result. Raises TypeError for none or several: the result of a claim is one tensor."""
    several = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else (value,)
    tensors = [one for one in several if isinstance(one, torch.Tensor)]
    if len(tensors) != 1 or len(several) != 1:
        raise TypeError(f"the reference returns {len(several)} values, {len(tensors)} of them tensors; a claim has one")
    return tensors[0]


class _Recorded(Exception):
    def __init__(self, arguments: Arguments) -> None:
        super().__init__("the arguments of a call")
        self.arguments = arguments


def recorded(model: Any, values: Arguments, function: Callable[..., Any]) -> Arguments:
    """The arguments with which `model(*values, fn=…)` calls that function, in the order of its parameters."""
    signature = inspect.signature(function)

    def record(*given: Any, **named: Any) -> None:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        raise _Recorded([*bound.args, *bound.kwargs.values()])

    try:
        model(*values, fn=record)
    except _Recorded as call:
        return call.arguments
    raise TypeError("Model.forward does not call the function that it is given as fn")


def on_cpu(value: Any) -> Any:
    """A copy on the CPU, also within lists and tuples."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu").clone()
    return type(value)(map(on_cpu, value)) if type(value) in (list, tuple) else copy.copy(value)


def known(shape: Sizes, settings: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a shape that the settings have a name for."""
    return {name: size for name, size in shape.items() if name in settings}


def doubled(value: Any) -> Any:
    """Tensors of numbers with fractions in float64, also within lists; all else as it is."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    return [doubled(one) for one in value] if isinstance(value, list) else value


def guise_for(arguments: Sequence[Any]) -> AbstractContextManager[None]:
    """Nothing where the arguments lie on a GPU: a baseline is timed there as it is."""
    there = any(isinstance(value, torch.Tensor) and value.is_cuda for value in arguments)
    return nullcontext() if there else as_on_a_gpu()


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """What torch makes without being told a dtype has that one for a while."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def bytes_written(result: torch.Tensor, arguments: Arguments) -> int:
    """What a kernel must write at least: nothing where the result shares memory with an argument or repeats itself."""
    storage = result.untyped_storage()
    shared = [value.untyped_storage()._cdata for value in arguments if isinstance(value, torch.Tensor)]
    return 0 if storage._cdata in shared else min(result.numel() * result.element_size(), storage.nbytes())
