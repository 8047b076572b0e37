"""Runs in a child: replaces parts of Triton's interpreter that fail, or that repeat work for every program of a launch.

The interpreter replaces the functions of `triton.language` before a launch, and again whenever a program calls a
function of the language that is written in Triton, such as `tl.sum`: that took most of the time of small programs.
It also looks through whole modules for them, and checks every sum of integers for an overflow in 64 bits that it then
does not report.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any


class Patches:
    """The replaced functions of the module `triton.runtime.interpreter`."""

    def __init__(self, interpreter: Any) -> None:
        self._interpreter = interpreter
        self._language = interpreter.tl
        self._replaced: set[int] = set()  # the globals of functions whose language was replaced in this launch
        self._builtins: dict[int, list[str]] = {}
        self._plain_language: Callable[[Any], Any] = interpreter._patch_lang
        self._plain_tensor: Callable[[Any, Any], None] = interpreter._patch_lang_tensor
        interpreter._patch_lang = self._language_of
        interpreter._patch_lang_tensor = self._tensor
        interpreter._patch_builtin = self._builtin
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
        scope.set_attr(tensor, "__index__", lambda one: one.handle.data.item())

    def _builtin(self, package: Any, builder: Any, scope: Any) -> None:
        """Replace the built-in functions of a module or class, which is searched once."""
        built_in = self._language.core.is_builtin
        if id(package) not in self._builtins:
            self._builtins[id(package)] = [name for name, one in inspect.getmembers(package) if built_in(one)]
        for name in self._builtins[id(package)]:
            if built_in(member := getattr(package, name)):  # not replaced yet
                self._interpreter._patch_attr(package, name, member, builder, scope)
