"""Results of calls as plain tensors, and a random sample of the results of timed calls.

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

from audit.run.calls.containers import CONTAINERS, leaves, tensors
from audit.run.calls.raw_memory import is_plain
from audit.run.messages.event_models import MOST_PIECES

ADDS_NOTHING = frozenset({
    "__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__", "__slots__",
    "__static_attributes__", "__weakref__",
})  # fmt: skip
"""The names that Python puts into a class whose body is empty."""
_Tensor, _Parameter, _Metaclass = torch.Tensor, torch.nn.Parameter, type(torch.Tensor)
_bases, _members = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
_detach, _Undisturbed = torch.Tensor.detach, torch._C.DisableTorchFunctionSubclass
_cat, _flat, _leaves, _items = torch.cat, torch.Tensor.reshape, leaves, tuple.__iter__
_cpu = torch.Tensor.cpu


def own(result: Any) -> Any:
    """Return a result as a plain tensor or a tuple of several, over the same memory; skip a None within containers.

    A tensor alone in a container is that tensor, as of C++ functions that return a vector. A module's parameter and a
    subclass without members are unwrapped; other objects stay.
    """
    flat = flattened(result)
    if flat is None:
        return _own(result)
    outputs = [one for one in flat if one is not None]
    if not outputs or not all(isinstance(one, _Tensor) for one in outputs):
        return result
    return tuple(_own(one) for one in outputs) if len(outputs) > 1 else _own(outputs[0])


def flattened(result: Any) -> list[Any] | None:
    """Return the values within a tuple, list or dict; None for other objects.

    A subclass of tuple, such as the results of `torch.max`, is read without calling its methods.
    """
    if type(result) in CONTAINERS:
        return _leaves(result)
    return _leaves(tuple(_items(result))) if issubclass(type(result), tuple) else None


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
    """Return the shape and dtype of a result for its event; of several, one vector's, and each one's in `outputs`."""
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


def type_of(result: object) -> str:
    """Return the type in words: `Tensor` for a plain tensor alone, see `outputs.own`; `2 tensors` for two."""
    kind, outputs = type(result), outputs_of(result)
    if not all(is_plain(one) for one in outputs if type(one) is torch.Tensor):
        return "a tensor of another C++ class than torch's own"
    if outputs and kind is tuple and all(type(one) is torch.Tensor for one in outputs):
        return f"{len(outputs)} tensors"
    named = kind.__module__ in ("builtins", "torch") and kind.__name__ != "Tensor"
    return "Tensor" if kind is torch.Tensor else kind.__name__ if named else f"{kind.__module__}.{kind.__qualname__}"


def aliases(result: object, inputs: list[Any]) -> list[int]:
    """Return the positions of the inputs whose storage the result shares."""
    held = [one for one in outputs_of(result) if not one.is_meta and one.untyped_storage().nbytes()]
    mine = {_address(one) for one in held} - {None}
    return [index for index, x in enumerate(inputs) if mine.intersection(map(_address, tensors(x)))]


def _address(tensor: torch.Tensor) -> int | None:
    """Return the address of the storage; None for a tensor subclass without one."""
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:
        return None


def described(outputs: Sequence[torch.Tensor]) -> dict[str, Any]:
    """Return the event keys of outputs; several count as one vector, of stride 0 where one has overlapping elements."""
    first, *others = outputs
    strides = list(first.stride())
    if others:
        dimensions = [each for one in outputs for each in zip(one.shape, one.stride(), strict=True)]
        strides = [int(not any(size > 1 and stride == 0 for size, stride in dimensions))]
    devices = " and ".join(dict.fromkeys(one.device.type for one in outputs))
    shared = {"sharing": pairs} if (pairs := _sharing(outputs)) else {}
    return {**about(outputs), "device": devices, "strides": strides, **shared}


def _sharing(outputs: Sequence[torch.Tensor]) -> list[list[int]]:
    """Return the pairs of positions of contiguous outputs that share memory: each with the first that it overlaps."""
    pieces = [
        range(one.data_ptr(), one.data_ptr() + one.numel() * one.element_size())
        if not one.is_meta and type(one) is torch.Tensor and one.is_contiguous()
        else range(0)
        for one in outputs
    ]
    over = (
        [first for first, one in enumerate(pieces[:index]) if max(piece.start, one.start) < min(piece.stop, one.stop)]
        for index, piece in enumerate(pieces)
    )
    return [[first[0], index] for index, first in enumerate(over) if first]


MOST_ELEMENTS = 1 << 22
"""The most elements of an output that are kept, in at most `MOST_PIECES` pieces of whole rows chosen at random."""


class KeptOutputs:
    """A uniform random sample of the timed calls of every callable, `each` of them; `choice` draws the calls and the
    rows, `write` writes a tensor's bytes to a file of the folder and returns their digest, see `EventWriter.keep`."""

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
        part = whole if rows is None else _cat([whole[first:end] for first, end in rows])
        dtype = str(output.dtype).removeprefix("torch.")
        kept[slot] = {**event, "whole": list(output.shape), "rows": rows, "dtype": dtype, "part": _cpu(part)}

    def written(self) -> list[dict[str, Any]]:
        """Write the kept outputs; return one event a call, with the name of its file."""
        every = [one for kept in self._kept.values() for one in kept if one]
        return [self._write(number, one) for number, one in enumerate(every)]

    def _rows(self, output: torch.Tensor) -> list[list[int]] | None:
        """Draw the first row of each piece and the row behind its last; None keeps all rows."""
        if output.dim() == 0 or output.numel() <= MOST_ELEMENTS:
            return None
        rows = output.shape[0]
        count = max(1, MOST_ELEMENTS * rows // output.numel())
        length = -(-count // MOST_PIECES)
        before = self._choice.randrange(rows % length + 1)
        drawn = sorted(self._choice.sample(range(rows // length), count // length))
        return [[before + piece * length, before + (piece + 1) * length] for piece in drawn]

    def _write(self, number: int, one: dict[str, Any]) -> dict[str, Any]:
        event = {key: value for key, value in one.items() if key != "part"}
        if "part" in one:
            part = one["part"].contiguous()
            file = f"timed{number}.bin"
            event |= {"file": file, "shape": list(part.shape), "digest": self._keep_file(self._folder / file, part)}
        return event
