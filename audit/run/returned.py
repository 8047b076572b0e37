"""Runs in a child: describe the result of a call: its type, its outputs in memory, and memory that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from audit.run.containers import tensors
from audit.run.outputs import about, outputs_of


def type_of(result: object) -> str:
    """Return the type in words: `Tensor` for a plain tensor alone, see `outputs.own`; `2 tensors` for two."""
    kind = type(result)
    if (outputs := outputs_of(result)) and kind is tuple and all(type(one) is torch.Tensor for one in outputs):
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
    shared = {"overlapping": overlapping} if (overlapping := _overlapping(outputs)) else {}
    return {**about(outputs), "device": devices, "strides": strides, **shared}


def _overlapping(outputs: Sequence[torch.Tensor]) -> list[int]:
    """Return the positions of the contiguous outputs that share memory with an earlier one."""
    pieces = [
        range(one.data_ptr(), one.data_ptr() + one.numel() * one.element_size())
        if not one.is_meta and type(one) is torch.Tensor and one.is_contiguous()
        else range(0)
        for one in outputs
    ]
    return [
        index
        for index, piece in enumerate(pieces)
        if any(range(max(piece.start, other.start), min(piece.stop, other.stop)) for other in pieces[:index])
    ]
