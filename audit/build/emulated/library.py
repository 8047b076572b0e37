"""Runs in a child: load a library as Python functions; for header set `micro` without pybind11 or Python.h.

Python values become the C structure of include/cuemu/bind_value.h and back, tensors as TensorImpl pointers.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import importlib.machinery
import importlib.util
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from audit.build.cache import sealed

_MODULE = "extension"
_REGISTERED: dict[str, torch.library.Library] = {}
"""What this process registered, by the name of the operator."""
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


class CallRequest(ctypes.Structure):
    """struct cuemu_request."""

    _fields_ = (
        ("function", ctypes.c_char_p),
        ("values", ctypes.POINTER(Value)),
        ("positional", ctypes.c_size_t),
        ("named", ctypes.c_size_t),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
    )


class _Failure(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_char_p), ("message", ctypes.c_char_p))


def load(
    library: Path, header_set: str, digests: Mapping[Path, str] | None = None, *, prefix: str
) -> dict[str, Callable[..., Any]]:
    """Return the extension's functions by name. Exceptions of C++ become Python's of the same kind.

    Args:
        library: `EmulatedBuild.library`; `Runtime` must be created before.
        header_set: `EmulatedBuild.header_set`.
        digests: see `audit.build.cache`.
        prefix: `Runtime.prefix`.

    Raises:
        OSError: the library needs an undefined symbol.
    """
    held = sealed(library, digests)
    if header_set != "micro":
        ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_python.so"), mode=ctypes.RTLD_GLOBAL)
    handle = ctypes.CDLL(str(held))
    if hasattr(handle, f"PyInit_{_MODULE}"):
        named = _load_module(held)
    else:
        named = _functions(handle, f"{prefix}_module", prefix)
    return {**_registered(_functions(handle, f"{prefix}_operators", prefix)), **named}


def _functions(handle: ctypes.CDLL, opener: str, prefix: str) -> dict[str, Callable[..., Any]]:
    """Return the functions by name of the module that this function of a library returns."""
    runtime = ctypes.CDLL(None)  # the runtime's symbols are global
    if (opened := getattr(handle, opener, None)) is None:
        return {}
    opened.restype = ctypes.c_void_p
    module = opened()
    named_as, documented = getattr(runtime, f"{prefix}_function_name"), getattr(runtime, f"{prefix}_function_doc")
    named_as.restype = documented.restype = ctypes.c_char_p
    functions: list[Callable[..., Any]] = []
    while name := named_as(ctypes.c_void_p(module), ctypes.c_size_t(len(functions))):
        index = len(functions)
        function = _function(runtime, module, name.decode(), prefix)
        function.__doc__ = documented(ctypes.c_void_p(module), ctypes.c_size_t(index)).decode()
        functions.append(function)
    named: dict[str, Callable[..., Any]] = {}
    for function in functions:  # the first function of a name picks among its overloads
        named.setdefault(function.__name__, function)
    return named


def _registered(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Register the functions of `TORCH_LIBRARY` in `torch.ops`, each in place of an earlier library's, and return them.
    See include/cuemu/operators.h for the names."""
    found: dict[str, Callable[..., Any]] = {}
    for schema in functions:
        name, opened, _ = schema.partition("(")
        if opened:
            if (earlier := _REGISTERED.pop(name, None)) is not None:
                earlier._destroy()  # type: ignore[no-untyped-call]
            space, _, operator_name = name.partition("::")
            library = _REGISTERED[name] = torch.library.Library(space, "FRAGMENT")  # type: ignore[no-untyped-call]
            library.define(schema.removeprefix(f"{space}::"))  # type: ignore[no-untyped-call]
            if name in functions:
                function = _with_defaults(functions[name], torch._C.parse_schema(schema).arguments)
                library.impl(operator_name, function, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
            plain = operator_name.partition(".")[0]
            found[plain] = getattr(getattr(torch.ops, space), plain)
    return found


def _with_defaults(function: Callable[..., Any], parameters: Sequence[Any]) -> Callable[..., Any]:
    """Return a function of positions out of one that torch calls without the last values that equal their defaults."""

    def call(*given: Any, **named: Any) -> Any:
        left = [named.get(one.name, one.default_value) for one in parameters[len(given) :]]
        return function(*given, *left)

    return call


def _function(runtime: ctypes.CDLL, module: int, name: str, prefix: str) -> Callable[..., Any]:
    called, released = getattr(runtime, f"{prefix}_call_function"), getattr(runtime, f"{prefix}_value_release")
    called.restype = ctypes.c_bool

    def call(*positional: Any, **named: Any) -> Any:
        values = (Value * (len(positional) + len(named)))()
        for slot, argument in zip(values, (*positional, *named.values()), strict=True):
            to_value(argument, slot)
        names = (ctypes.c_char_p * len(named))(*(each.encode() for each in named))
        request = CallRequest(name.encode(), values, len(positional), len(named), names)
        result, failure = Value(), _Failure()
        if not called(ctypes.c_void_p(module), ctypes.byref(request), ctypes.byref(result), ctypes.byref(failure)):
            raise getattr(builtins, failure.kind.decode())(failure.message.decode(errors="replace"))
        try:
            return from_value(result)
        finally:
            released(ctypes.byref(result))

    call.__name__ = name
    return call


def _load_module(library: Path) -> dict[str, Callable[..., Any]]:
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, str(library))
    spec = importlib.util.spec_from_file_location(_MODULE, library, loader=loader)
    assert spec is not None  # a loader was given
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return {name: each for name, each in vars(module).items() if callable(each) and not name.startswith("__")}


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
            to_value(_number(argument), value)


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


def _number(argument: Any) -> int | float:
    """Return what `__index__` or `__float__` of an argument gives. Raises TypeError where it has neither."""
    for convert in (operator.index, float):
        if not isinstance(argument, bytes | bytearray):
            with suppress(TypeError, ValueError):
                return convert(argument)
    raise TypeError(f"a kernel built here takes no argument of type {type(argument).__name__}")


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
