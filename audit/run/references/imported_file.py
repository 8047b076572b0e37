"""Load a Python file of others, unchanged except for the integer constants that a shape names.

Tensors that the file requests on a GPU are made on the CPU, so that inputs never depend on the device at hand.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from audit.claims.literal_sizes import literal_sizes
from audit.run.references.fake_cuda_tensors import FakeCuda

Sizes = Mapping[str, int]
Tied = Mapping[str, Mapping[int, str]]
"""By the name of a top-level tuple, the places in it that change with a size."""

AS_PUBLISHED = "as_published"
"""The only size of a shape that replaces no constant."""
_numbers = itertools.count()


class ImportedFile:
    """One file, loaded lazily and once for every choice of sizes: constants, and numbers as of `literal_sizes`.

    Args:
        path: the file.
        beside: modules it may import, by name; None for a stand-in.
        tied: places in tuples that get the number of a size where a shape names it.
    """

    def __init__(
        self, path: Path, *, beside: Mapping[str, Path | None] | None = None, tied: Tied | None = None
    ) -> None:
        self._path, self._tied = path, dict(tied or {})
        self._beside = dict(beside or {})
        self._made: dict[tuple[tuple[str, int], ...], ModuleType] = {}

    def module(self, sizes: Sizes | None = None) -> Any:
        """Return the module with those integer constants replaced. Raises LookupError: the file has no such constant;
        lists its constants. Also any exception of the file itself."""
        chosen = {name: size for name, size in (sizes or {}).items() if name != AS_PUBLISHED}
        key = tuple(sorted(chosen.items()))
        if key not in self._made:
            name = f"imported_task_{next(_numbers)}"
            with _named_modules(self._beside):
                self._made[key] = _loaded(self._path, chosen, name=name, tied=self._tied)
        return self._made[key]


@contextmanager
def as_on_a_gpu(*, meta: bool = False) -> Iterator[None]:
    """Make tensors that are requested on a GPU on the CPU, or, for shapes alone, on torch's meta device."""
    torch.Generator = _Generator  # type: ignore[misc]
    try:
        with _without_compiler() if meta else nullcontext(), _OnMeta() if meta else FakeCuda():
            yield
    finally:
        torch.Generator = _PLAIN  # type: ignore[misc]


@contextmanager
def seeds_moved(by: int) -> Iterator[None]:
    """Add a number to every seed that the file sets, so that inputs always drawn alike are other draws."""
    plain = torch.manual_seed
    torch.manual_seed = lambda seed: plain(_moved(seed, by))
    _Seeded.moved_by = by
    try:
        yield
    finally:
        torch.manual_seed = plain
        _Seeded.moved_by = 0


def _moved(seed: int, by: int) -> int:
    return (int(seed) + by) % (1 << 63)


_PLAIN = torch.Generator
_COMPILER = "torch._dynamo"


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Spare the import of torch's compiler, over a second: torch's shape rules only ask to be left out of it."""
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
    """A CPU generator for any requested device; a class, since modules name it in annotations."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return _Seeded()


class _Seeded(torch.Generator):
    moved_by = 0

    def manual_seed(self, seed: int) -> torch.Generator:
        """Seed with a number that `seeds_moved` has moved."""
        return super().manual_seed(_moved(seed, self.moved_by))


class _OnMeta(TorchFunctionMode):
    """Make every tensor on the meta device, whose random numbers need no generator."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {name: value for name, value in (kwargs or {}).items() if name != "generator"}
        if named.get("device") is not None:
            named["device"] = "meta"
        return function(*args, **named)


class _StandIn(ModuleType):
    """A stand-in for a missing module: each of its names is a type, a decorator without effect and an empty context."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Nothing,), {})


class _Nothing:
    def __init__(self, *_: Any, **__: Any) -> None:
        """Take any arguments."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


@contextmanager
def _named_modules(files: Mapping[str, Path | None]) -> Iterator[None]:
    """Make `import name` find those files within this context."""
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


def _loaded(path: Path, sizes: Sizes, *, name: str, tied: Tied | None = None) -> ModuleType:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    constants, literals = _constants(tree), literal_sizes(tree)
    missing = [size for size in sizes if size not in constants and size not in literals]
    if missing:
        known = ", ".join([*constants, *literals]) or "none"
        raise LookupError(f"{path.name} has no constant {missing[0]}; it has: {known}")
    for size, value in sizes.items():
        for literal in literals.get(size, ()):
            literal.value = int(value)
        if size not in constants:
            continue
        holder, index = constants[size]
        constant = ast.copy_location(ast.Constant(int(value)), holder)
        if index is None:
            holder.value = constant
        else:
            holder.elts[index] = constant
    for held, places in (tied or {}).items():
        for place, size in places.items():
            if size in sizes:
                elements = constants[held][0].value.elts
                elements[place] = ast.copy_location(ast.Constant(int(sizes[size])), elements[place])
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and torch.compile look the module up there
    exec(compile(tree, str(path), "exec"), vars(module))
    return module


def _constants(tree: ast.Module) -> dict[str, tuple[Any, int | None]]:
    """Return each top-level constant's statement, or its tuple of values and its index there."""
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
                found |= {name: (statement.value, index) for index, name in enumerate(names)}
    return found
