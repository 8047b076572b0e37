"""Runs in a child: load a library as Python functions; for header set `micro` without pybind11 or Python.h."""

from __future__ import annotations

import builtins
import ctypes
import importlib.machinery
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from audit.build.emulated.values import Request, Value, from_value, to_value
from audit.build.sealed import sealed


class _Failure(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_char_p), ("message", ctypes.c_char_p))


def load(
    library: Path, header_set: str, digests: Mapping[Path, str] | None = None, *, prefix: str
) -> dict[str, Callable[..., Any]]:
    """Return the extension's functions by name.

    `audit.build.emulated.runtime.Runtime` must be created before. Exceptions of C++ become Python's of the same kind.

    Args:
        library: `EmulatedBuild.library`.
        header_set: `EmulatedBuild.header_set`.
        digests: see `audit.build.sealed`.
        prefix: `Runtime.prefix`.

    Raises:
        OSError: the library needs an undefined symbol.
    """
    held = sealed(library, digests)
    return _load_module(held) if header_set != "micro" else _load_micro(held, prefix)


def _load_micro(library: Path, prefix: str) -> dict[str, Callable[..., Any]]:
    handle = ctypes.CDLL(str(library))
    runtime = ctypes.CDLL(None)  # the runtime's symbols are global
    if (opened := getattr(handle, f"{prefix}_module", None)) is None:
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


def _function(runtime: ctypes.CDLL, module: int, name: str, prefix: str) -> Callable[..., Any]:
    called, released = getattr(runtime, f"{prefix}_call_function"), getattr(runtime, f"{prefix}_value_release")
    called.restype = ctypes.c_bool

    def call(*positional: Any, **named: Any) -> Any:
        values = (Value * (len(positional) + len(named)))()
        for slot, argument in zip(values, (*positional, *named.values()), strict=True):
            to_value(argument, slot)
        names = (ctypes.c_char_p * len(named))(*(each.encode() for each in named))
        request = Request(name.encode(), values, len(positional), len(named), names)
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
    ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_python.so"), mode=ctypes.RTLD_GLOBAL)
    loader = importlib.machinery.ExtensionFileLoader("extension", str(library))
    spec = importlib.util.spec_from_file_location("extension", library, loader=loader)
    assert spec is not None  # a loader was given
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return {name: each for name, each in vars(module).items() if callable(each) and not name.startswith("__")}
