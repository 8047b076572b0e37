"""Runs in a child: a Python file of others as a module, unchanged but for the integer constants that a shape names.

What the file asks to be made on a GPU is made on the CPU, so that inputs never depend on the device at hand. Below
stand its values on their way to the audit.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from audit.run.fake_cuda_tensors import FakeCuda
from audit.run.outputs import flattened

Sizes = Mapping[str, int]

AS_PUBLISHED = "as_published"
"""The one size of a shape that names none: the file is run as it is."""
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
        chosen = {name: size for name, size in (sizes or {}).items() if name != AS_PUBLISHED}
        key = tuple(sorted(chosen.items()))
        if key not in self._made:
            name = f"imported_task_{next(_numbers)}"
            with _named_modules(self._beside):
                self._made[key] = _loaded(self._path, chosen, name=name)
        return self._made[key]


@contextmanager
def as_on_a_gpu(*, meta: bool = False) -> Iterator[None]:
    """Make tensors that are asked for on a GPU on the CPU, or, to learn shapes alone, on torch's meta device."""
    torch.Generator = _Generator  # type: ignore[misc]
    try:
        with _without_compiler() if meta else nullcontext(), _OnMeta() if meta else FakeCuda():
            yield
    finally:
        torch.Generator = _PLAIN  # type: ignore[misc]


_PLAIN = torch.Generator
_COMPILER = "torch._dynamo"


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Spare the import of torch's compiler, over a second, where shapes alone are computed: torch's rules for shapes
    import it to be left out of what it compiles, and nothing is compiled."""
    if _COMPILER in sys.modules:
        yield
        return
    stand_in = ModuleType(_COMPILER)
    vars(stand_in)["disable"] = lambda function, *_, **__: function
    sys.modules[_COMPILER] = vars(torch)["_dynamo"] = stand_in
    try:
        yield
    finally:
        del sys.modules[_COMPILER], vars(torch)["_dynamo"]


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
        constant = ast.copy_location(ast.Constant(int(value)), holder)
        if place is None:
            holder.value = constant
        else:
            holder.elts[place] = constant
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


Arguments = list[Any]


def outputs_in(value: Any) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Return the tensor of a result, also out of a container, or a tuple of several.

    Raises:
        TypeError: there is none, or something else beside them.
    """
    several = [one for one in flattened(value) or [value] if one is not None]
    tensors = tuple(one for one in several if isinstance(one, torch.Tensor))
    if not tensors or len(tensors) != len(several):
        raise TypeError(f"the reference returns {len(several)} values, {len(tensors)} of them tensors; all must be")
    return tensors if len(tensors) > 1 else tensors[0]


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


def faked_for(arguments: Sequence[Any]) -> AbstractContextManager[None]:
    """Return `as_on_a_gpu` where the arguments lie on the CPU; on a GPU a baseline is timed as it is."""
    there = any(isinstance(value, torch.Tensor) and value.is_cuda for value in arguments)
    return nullcontext() if there else as_on_a_gpu()


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Make that dtype torch's default for a while."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def bytes_written(result: torch.Tensor | tuple[torch.Tensor, ...], arguments: Arguments) -> int:
    """Return the bytes a kernel must write at least; none of an output that shares memory with an argument."""
    shared = [value.untyped_storage()._cdata for value in arguments if isinstance(value, torch.Tensor)]
    outputs = result if isinstance(result, tuple) else (result,)
    own = [one for one in outputs if one.untyped_storage()._cdata not in shared]
    return sum(min(one.numel() * one.element_size(), one.untyped_storage().nbytes()) for one in own)
