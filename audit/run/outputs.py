"""Runs in a child: results of calls as plain tensors, and a random sample of the results of timed calls.

A result is one tensor, or several within a tuple, list or dict, which are its outputs in that order.

A tensor subclass with members of its own may compute its values when it is read, after the clock has stopped, so it is
never unwrapped. The judge compares the sample with the oracle. The functions of torch used here are bound before
claimed code can replace them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from audit.run.containers import CONTAINERS, leaves

ADDS_NOTHING = frozenset({
    "__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__", "__slots__",
    "__static_attributes__", "__weakref__",
})  # fmt: skip
"""The names that Python puts into a class whose body is empty."""
_Tensor, _Parameter, _Metaclass = torch.Tensor, torch.nn.Parameter, type(torch.Tensor)
_bases, _members = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
_detach, _Undisturbed = torch.Tensor.detach, torch._C.DisableTorchFunctionSubclass
_cat, _flat, _leaves, _items = torch.cat, torch.Tensor.reshape, leaves, tuple.__iter__


def own(result: Any) -> Any:
    """Return a result as a plain tensor or a tuple of several, over the same memory; skip a None within containers.

    A module's parameter and a subclass without members are unwrapped; other objects stay.
    """
    flat = flattened(result)
    if flat is None:
        return _own(result)
    outputs = [one for one in flat if one is not None]
    if len(flat) < 2 or not outputs or not all(isinstance(one, _Tensor) for one in outputs):
        return result
    return tuple(_own(one) for one in outputs) if len(outputs) > 1 else _own(outputs[0])


def flattened(result: Any) -> list[Any] | None:
    """Return the values within a tuple, list or dict; None for other objects.

    A subclass of tuple, such as the results of `torch.max`, is read without calling its methods.
    """
    if type(result) in CONTAINERS:
        return _leaves(result)
    return _leaves(tuple(_items(result))) if isinstance(result, tuple) else None


def _own(result: Any) -> Any:
    kind = type(result)
    if kind is _Tensor or not (kind is _Parameter or _adds_nothing(kind)):
        return result
    with _Undisturbed():
        return _detach(result)


def outputs_of(result: object) -> tuple[torch.Tensor, ...]:
    """Return the outputs of a result of `own`; none where it is neither a tensor nor several."""
    if isinstance(result, _Tensor):
        return (result,)
    several = type(result) is tuple and len(result) > 1 and all(isinstance(one, _Tensor) for one in result)
    return tuple(result) if several else ()  # type: ignore[arg-type]


def packed(result: Any) -> Any:
    """Return the result with several outputs joined into one vector of a type that can represent all of them.

    A result with another object than plain tensors stays as it is.
    """
    result = own(result)
    outputs = outputs_of(result)
    if len(outputs) < 2 or any(type(one) is not _Tensor for one in outputs):
        return result
    kinds = {one.dtype for one in outputs}
    dtype = outputs[0].dtype if len(kinds) == 1 else torch.float64
    return _cat([_flat(_detach(one), -1).to(outputs[0].device, dtype) for one in outputs])


def about(outputs: Sequence[torch.Tensor]) -> dict[str, Any]:
    """Return the shape and dtype of a result for its event; several outputs count as one vector, with each one's shape
    and dtype in `outputs`."""
    each = [{"shape": list(one.shape), "dtype": str(one.dtype).removeprefix("torch.")} for one in outputs]
    if len(each) == 1:
        return each[0]
    dtypes = " and ".join(dict.fromkeys(str(one["dtype"]) for one in each))
    return {"shape": [sum(one.numel() for one in outputs)], "dtype": dtypes, "outputs": each}


def spanned(tensor: torch.Tensor) -> torch.Tensor:
    """Return the memory from the first to the last element of a tensor of any strides, as a contiguous vector."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.detach().as_strided((1 + reach if tensor.numel() else 0,), (1,))


def _adds_nothing(kind: type) -> bool:
    bases = _bases(kind)
    if _Tensor not in bases or type(kind) is not _Metaclass:
        return False
    added = bases[: bases.index(_Tensor)]
    return all(ADDS_NOTHING.issuperset(_members(one)) for one in added)


MOST_ELEMENTS = 1 << 22
"""The most elements of an output that are kept, as whole rows chosen at random."""


_cpu = torch.Tensor.cpu


class KeptOutputs:
    """A uniform random sample of the timed calls of every callable.

    Args:
        folder: gets the files.
        each: the sample size of each callable.
        choice: draws the calls and the rows.
        write: writes a tensor's bytes to a file and returns their digest, see `EventWriter.keep`.
    """

    def __init__(
        self, folder: Path, *, each: int, choice: random.Random, write: Callable[[Path, torch.Tensor], str]
    ) -> None:
        self._folder, self._each, self._choice, self._keep_file = folder, each, choice, write
        self._seen: dict[str, int] = {}
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def wanted(self, name: str, calls: int) -> dict[int, int]:
        """Draw the slots of those of the next calls that are kept, before the calls run."""
        chosen = {}
        for index in range(calls):
            seen = self._seen[name] = self._seen.get(name, 0) + 1
            slot = seen - 1 if seen <= self._each else self._choice.randrange(seen)
            if slot < self._each:
                chosen[index] = slot
        return chosen

    def keep(self, name: str, slot: int, output: Any, *, inputs: int, block: int) -> None:
        """Copy the output of a call over the numbered `inputs` to the host.

        A tensor subclass with members of its own counts as no tensor.
        """
        output = packed(output)
        kept = self._kept.setdefault(name, [{}] * self._each)
        event = {"variant": name, "inputs": inputs, "block": block}
        if type(output) is not torch.Tensor:
            kept[slot] = {**event, "no_tensor": type(output).__name__}
            return
        rows = self._rows(output)
        whole = _detach(output)
        part = whole if rows is None else whole[torch.tensor(rows, device=output.device)]
        dtype = str(output.dtype).removeprefix("torch.")
        kept[slot] = {**event, "whole": list(output.shape), "rows": rows, "dtype": dtype, "part": _cpu(part)}

    def written(self) -> list[dict[str, Any]]:
        """Write the kept outputs; return one event a call, with the name of its file."""
        every = [one for kept in self._kept.values() for one in kept if one]
        return [self._write(number, one) for number, one in enumerate(every)]

    def _rows(self, output: torch.Tensor) -> list[int] | None:
        if output.dim() == 0 or output.numel() <= MOST_ELEMENTS:
            return None
        count = max(1, MOST_ELEMENTS * output.shape[0] // output.numel())
        return sorted(self._choice.sample(range(output.shape[0]), count))

    def _write(self, number: int, one: dict[str, Any]) -> dict[str, Any]:
        event = {key: value for key, value in one.items() if key != "part"}
        if "part" in one:
            part = one["part"].contiguous()
            file = f"timed{number}.bin"
            event |= {"file": file, "shape": list(part.shape), "digest": self._keep_file(self._folder / file, part)}
        return event
