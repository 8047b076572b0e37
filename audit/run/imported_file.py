"""Runs in a child: a stranger's Python file as a module, unchanged but for the integer constants that a shape names.

What the file asks to be made on a GPU is made on the CPU, so that inputs never depend on the device at hand.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from audit.run.fake_cuda_tensors import CudaGuise

Sizes = Mapping[str, int]

_numbers = itertools.count()


class ImportedFile:
    """One file, loaded when first asked for and once for every choice of sizes.

    Args:
        path: the file.
        beside: modules it may import by name; None stands for one that is not there.
    """

    def __init__(self, path: Path, *, beside: Mapping[str, Path | None] | None = None) -> None:
        self._path = path
        self._beside = dict(beside or {})
        self._made: dict[tuple[tuple[str, int], ...], ModuleType] = {}

    def module(self, sizes: Sizes | None = None) -> Any:
        """The module with those of its integer constants replaced.

        Raises:
            LookupError: it has no such constant; names those it has. And whatever the file itself raises.
        """
        chosen = dict(sizes or {})
        key = tuple(sorted(chosen.items()))
        if key not in self._made:
            name = f"imported_task_{next(_numbers)}"
            with _named_modules(self._beside):
                self._made[key] = _loaded(self._path, chosen, name=name)
        return self._made[key]


@contextmanager
def as_on_a_gpu(*, meta: bool = False) -> Iterator[None]:
    """What is asked for on a GPU is made on the CPU, or, to learn shapes alone, on torch's meta device."""
    torch.Generator = _Generator  # type: ignore[misc]
    try:
        with _OnMeta() if meta else CudaGuise():
            yield
    finally:
        torch.Generator = _PLAIN  # type: ignore[misc]


_PLAIN = torch.Generator


class _Generators(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _PLAIN)


class _Generator(metaclass=_Generators):
    """A generator of the CPU, whatever device is asked for; a class, since modules name it in their annotations."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return _PLAIN()


class _OnMeta(TorchFunctionMode):
    """Every tensor is made without memory, whatever device is asked for; random numbers need no generator then."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {name: value for name, value in (kwargs or {}).items() if name != "generator"}
        if named.get("device") is not None:
            named["device"] = "meta"
        return function(*args, **named)


class _StandIn(ModuleType):
    """A module that is not there: any name of it is a type, a function that does nothing, an empty context."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Nothing,), {})


class _Nothing:
    def __init__(self, *_: Any, **__: Any) -> None:
        """Takes anything."""

    def __enter__(self) -> None:
        """Changes nothing."""

    def __exit__(self, *_: object) -> None:
        """Changes nothing."""


@contextmanager
def _named_modules(files: Mapping[str, Path | None]) -> Iterator[None]:
    """Lets `import name` find those files for a while, and only then."""
    before = {name: sys.modules.get(name) for name in files}
    try:
        for name, path in files.items():
            sys.modules[name] = _StandIn(name) if path is None else _loaded(path, {}, name=name)
        yield
    finally:
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def _loaded(path: Path, sizes: Sizes, *, name: str) -> ModuleType:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    constants = _constants(tree)
    missing = [size for size in sizes if size not in constants]
    if missing:
        raise LookupError(f"{path.name} has no constant {missing[0]}; it has: {', '.join(constants) or 'none'}")
    for size, value in sizes.items():
        holder, place = constants[size]
        told = ast.copy_location(ast.Constant(int(value)), holder)
        if place is None:
            holder.value = told
        else:
            holder.elts[place] = told
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their module up there, torch.compile those of what it traces
    exec(compile(tree, str(path), "exec"), vars(module))
    return module


def _constants(tree: ast.Module) -> dict[str, tuple[Any, int | None]]:
    """Where the top level gives one name one value: the statement, or the tuple of values and the place in it."""
    found: dict[str, tuple[Any, int | None]] = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Name):
            found[target.id] = (statement, None)
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            if len(names) == len(target.elts) == len(statement.value.elts):
                found |= {name: (statement.value, place) for place, name in enumerate(names)}
    return found
