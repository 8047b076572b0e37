"""Replaces parts of Triton's interpreter that fail, or that repeat work for every program of a launch.

The interpreter replaces the functions of `triton.language` before a launch, and again whenever a program calls a
function of the language that is written in Triton, such as `tl.sum`: that took most of the time of small programs.
It also looks through whole modules for them, and checks every sum of integers for an overflow in 64 bits that it then
does not report.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from audit.run.devices.triton.replay import Replayed


def _by_name(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function from a type of Triton to one of numpy, which makes a table of all types at each call."""
    known: dict[str, Any] = {}

    @wraps(plain)
    def function(kind: Any) -> Any:
        found = known.get(kind.name)
        if found is None:
            found = known[kind.name] = plain(kind)
        return found

    return function


def _of_type(plain: Callable[..., None]) -> Callable[..., None]:
    """Return how a tensor is made, whose attributes but for the handle are those of any other of the same type."""

    @wraps(plain)  # Python names it in its messages
    def function(self: Any, handle: Any, type: Any) -> None:
        known = getattr(type, "of_tensor", None)
        if known is None:
            plain(self, handle, type)
            type.of_tensor = {name: value for name, value in vars(self).items() if name != "handle"}
        else:
            self.__dict__.update(known)
            self.handle = handle

    return function


def _checked(plain: Callable[..., Any]) -> Callable[..., None]:
    """Return how a tensor's handle is made, with the bytes of each type of Triton looked up once.

    Args:
        plain: raises ValueError where an element of the data has more bytes than the type.
    """
    most: dict[str, int] = {}

    def function(self: Any, data: Any, dtype: Any, attr: dict[str, Any] | None = None) -> None:
        self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
        if data.itemsize > most.get(dtype.name, 0):
            plain(self)
            most[dtype.name] = data.itemsize

    return function


def _argument(interpreter: Any) -> Callable[[Any], Any]:
    """Return how an argument comes to a kernel: a float as a scalar of float32, as compiled code takes it, and a
    Boolean as one of int1, which the interpreter refuses."""
    plain, language = interpreter._implicit_cvt, interpreter.tl
    kinds = {float: (np.float32, language.float32), bool: (np.bool_, language.int1)}

    @wraps(plain)
    def function(argument: Any) -> Any:
        kind = next((one for one in kinds if isinstance(argument, one)), None)
        if kind is None:
            return plain(argument)
        of_numpy, of_triton = kinds[kind]
        return language.tensor(interpreter.TensorHandle(np.array([argument], dtype=of_numpy), of_triton), of_triton)

    return function


class Patches:
    """The replaced functions of the module `triton.runtime.interpreter`."""

    def __init__(self, interpreter: Any) -> None:
        self._interpreter = interpreter
        self._language = interpreter.tl
        self._replaced: set[int] = set()  # the globals of functions whose language was replaced in this launch
        self._builtins: dict[int, list[str]] = {}
        self._replayed = Replayed(interpreter)
        self._operations: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._plain_language: Callable[[Any], Any] = interpreter._patch_lang
        self._plain_tensor: Callable[[Any, Any], None] = interpreter._patch_lang_tensor
        interpreter._patch_lang = self._language_of
        interpreter._patch_lang_tensor = self._tensor
        interpreter._patch_builtin = self._builtin
        interpreter._implicit_cvt = _argument(interpreter)
        executor = interpreter.GridExecutor  # tensors lie in the memory of this process
        executor._init_args_hst = lambda _, args, named: (list(args), named)
        executor._restore_args_dev = lambda *_: None
        interpreter._get_np_dtype = _by_name(interpreter._get_np_dtype)
        self._language.tensor.__init__ = _of_type(self._language.tensor.__init__)
        interpreter.TensorHandle.__init__ = _checked(interpreter.TensorHandle.__post_init__)
        builder = interpreter.interpreter_builder
        builder.options = dataclasses.replace(builder.options, sanitize_overflow=builder.options.debug)

    def launch(self) -> None:
        """Begin a launch, before which the last one restored the language."""
        self._replaced.clear()

    def _language_of(self, function: Any) -> Any:
        """Replace the language that a function sees, once a launch."""
        if id(function.__globals__) in self._replaced:
            return self._interpreter._LangPatchScope()  # with nothing to restore
        self._replaced.add(id(function.__globals__))
        return self._plain_language(function)

    def _tensor(self, tensor: Any, scope: Any) -> None:
        """Replace the methods of tensors; Triton's own `__index__` raises under numpy 2.4, see its issue 9171."""
        self._plain_tensor(tensor, scope)
        plain_bool = tensor.__bool__

        def index(one: Any) -> Any:
            self._replayed.decides(one)
            return one.handle.data.item()

        def boolean(one: Any) -> bool:
            if sys._getframe(1).f_code.co_name == "_load_legacy":
                return True  # it asks whether there is a mask or an `other`, which compiled code has whatever its value
            if one.handle.data.size == 1:
                self._replayed.decides(one)
            return plain_bool(one)  # type: ignore[no-any-return]

        scope.set_attr(tensor, "__index__", index)
        scope.set_attr(tensor, "__bool__", boolean)

    def _builtin(self, package: Any, builder: Any, scope: Any) -> None:  # noqa: ARG002
        """Replace the built-in functions of a module or class, which is searched once."""
        built_in = self._language.core.is_builtin
        if id(package) not in self._builtins:
            self._builtins[id(package)] = [name for name, one in inspect.getmembers(package) if built_in(one)]
        for name in self._builtins[id(package)]:
            if built_in(member := getattr(package, name)):  # not replaced yet
                scope.set_attr(package, name, self._operation(member))

    def _operation(self, member: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the language for kernels, the same at every launch."""
        if member not in self._operations:
            self._operations[member] = self._replayed.operation(member)
        return self._operations[member]
