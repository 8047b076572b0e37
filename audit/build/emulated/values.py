"""Convert Python values to the C structure of include/cuemu/bind_value.h and back; tensors as TensorImpl pointers."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import torch

_NONE, _BOOL, _INTEGER, _REAL, _TENSOR, _TEXT, _LIST, _TUPLE, _DTYPE = range(9)


class Value(ctypes.Structure):
    """struct cuemu_value."""


Value._fields_ = (
    ("kind", ctypes.c_int32),
    ("integer", ctypes.c_int64),
    ("real", ctypes.c_double),
    ("tensor", ctypes.c_void_p),
    ("text", ctypes.c_char_p),
    ("count", ctypes.c_size_t),
    ("items", ctypes.POINTER(Value)),
)


class Request(ctypes.Structure):
    """struct cuemu_request."""

    _fields_ = (
        ("function", ctypes.c_char_p),
        ("values", ctypes.POINTER(Value)),
        ("positional", ctypes.c_size_t),
        ("named", ctypes.c_size_t),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
    )


def to_value(argument: Any, value: Value) -> None:
    """Write an argument into a structure, which borrows it. Raises TypeError for a kind that cannot be passed."""
    match argument:
        case None:
            value.kind = _NONE
        case torch.Tensor():
            value.kind, value.tensor = _TENSOR, argument._cdata
        case bool():
            value.kind, value.integer = _BOOL, argument
        case int():
            value.kind, value.integer = _INTEGER, _in_64_bits(argument)
        case float():
            value.kind, value.real = _REAL, argument
        case str():
            data = argument.encode()
            value.kind, value.text, value.count = _TEXT, data, len(data)
        case torch.dtype():
            value.kind, value.integer = _DTYPE, _dtypes().index(argument)
        case list() | tuple():
            _to_items(argument, value)
        case _:
            raise TypeError(f"a kernel built here takes no argument of type {type(argument).__name__}")


def from_value(value: Value) -> Any:
    """Return a result as a Python value, which owns its data."""
    return _READERS[value.kind](value)


def _to_items(argument: list[Any] | tuple[Any, ...], value: Value) -> None:
    items = (Value * max(len(argument), 1))()
    for item, slot in zip(argument, items, strict=False):
        to_value(item, slot)
    value.kind = _LIST if isinstance(argument, list) else _TUPLE
    value.count = len(argument)
    value.items = items


def _in_64_bits(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise TypeError(f"{number} does not fit into 64 bits")
    return number


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _wrapped(address: int) -> torch.Tensor:
    """Return a tensor for a TensorImpl, with a reference of its own."""
    wrap = getattr(torch._C, "_wrap_tensor_impl")  # noqa: B009  # torch's stubs lack it
    tensor: torch.Tensor = wrap(_new_capsule(address, None, None))
    return tensor


@functools.cache
def _dtypes() -> list[torch.dtype | None]:
    """Return torch's types in the order of their numbers in C++ (c10::ScalarType)."""
    names: tuple[str, ...] = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
    names += ("complex32", "complex64", "complex128", "bool", "", "", "", "bfloat16")
    return [getattr(torch, name, None) if name else None for name in names]


def _items(value: Value) -> list[Any]:
    return [from_value(value.items[i]) for i in range(value.count)]


_READERS: dict[int, Callable[[Value], Any]] = {
    _NONE: lambda value: None,  # noqa: ARG005
    _BOOL: lambda value: bool(value.integer),
    _INTEGER: lambda value: value.integer,
    _REAL: lambda value: value.real,
    _TENSOR: lambda value: _wrapped(value.tensor),
    _TEXT: lambda value: ctypes.string_at(value.text, value.count).decode(errors="replace"),
    _LIST: _items,
    _TUPLE: lambda value: tuple(_items(value)),
    _DTYPE: lambda value: _dtypes()[value.integer],
}
