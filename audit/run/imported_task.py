"""Runs in a child: the task of an imported claim, for the `reference.py` that `audit import` writes.

Each published format states a task in its own way: a module with parameters, a function that gets them, a function of
one tuple, a definition with stated inputs, or a plain function. The file is loaded lazily, so that importing
`reference.py` runs no code of others. The `[harness]` of `claim.toml` applies: a module's mode, and the dtype of
parameters and arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from audit.build.python.load import prepared
from audit.run.harness import cast, stated
from audit.run.imported_file import (
    AS_PUBLISHED,
    Arguments,
    ImportedFile,
    Sizes,
    as_on_a_gpu,
    bytes_written,
    faked_for,
    known,
    on_cpu,
    outputs_in,
    recorded,
    seeds_moved,
)
from audit.run.in_float64 import computed, default_dtype
from audit.run.work import counted

Result = torch.Tensor | tuple[torch.Tensor, ...]
SEED = 42
"""The seed that KernelBench and `audit.build.python.load` set before they make a module."""
FEWEST_SEEDS = 1 << 16
"""With so many seeds two cases of one audit hardly ever draw the same."""


def positional(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters before those that take any number of arguments."""
    given = signature(function).parameters.values()
    return [one.name for one in takewhile(lambda one: one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD), given)]


class Task:
    """The common part of all tasks: inputs on the CPU, the float64 result, and a lower bound of the work.

    `path` is a file in `original/` of a claim folder.
    """

    def __init__(self, path: Path, *, beside: Mapping[str, Path | None] | None = None) -> None:
        self._file = ImportedFile(path, beside=beside)
        self._harness = stated(path.parents[1])

    def inputs(self, shape: Sizes, generator: torch.Generator) -> Arguments:
        """Draw the arguments of one case, on the CPU."""
        seed = int(torch.randint(2**31, (1,), generator=generator))
        with torch.random.fork_rng(devices=[]), torch.no_grad(), as_on_a_gpu():
            torch.manual_seed(seed)
            return [cast(on_cpu(value), self._harness) for value in self._drawn(shape, seed)]

    def reference(self, *arguments: Any) -> Result:
        """Return the result that the claim was compared with."""
        with torch.no_grad(), faked_for(arguments):
            return outputs_in(self._computed(arguments, double=False))

    def oracle(self, *arguments: Any) -> Result:
        """Return the result with arguments, parameters and torch's default dtype in float64, see `in_float64`."""
        with torch.no_grad(), faked_for(arguments):
            return outputs_in(computed(partial(self._computed, double=True), arguments))

    def cost(self, shape: Sizes) -> dict[str, float]:
        """Return `flops` 0, since no importer knows the least, and the `bytes` of the result; 0 where unknown.

        Shapes alone are computed, on torch's meta device, where some files cannot run.
        """
        try:
            with torch.device("meta"), torch.no_grad(), as_on_a_gpu(meta=True):
                arguments = self._drawn(shape, 0)
                result = outputs_in(self._computed(arguments, double=False))
        except Exception:  # the file may raise anything there
            return {"flops": 0.0, "bytes": 0.0}
        return {"flops": 0.0, "bytes": float(bytes_written(result, arguments))}

    def blank(self, shape: Sizes) -> Arguments:
        """Return the arguments of a shape, without values where called on torch's meta device."""
        return self._drawn(shape, 0)

    def work(self, shape: Sizes) -> int | None:
        """Return the work of one call, inputs included, see `work.counted`; None where the file raises."""
        with torch.random.fork_rng(devices=[]), torch.no_grad(), as_on_a_gpu():
            return counted(lambda: self._computed(self._drawn(shape, 0), double=False))

    def parameters(self) -> list[str]:
        """Return the names of the first arguments, as far as the file has them."""
        return []

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        """Return the arguments, on the device that the file chooses."""
        raise NotImplementedError

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        """Return the file's result for the arguments."""
        raise NotImplementedError


class ModuleTask(Task):
    """`Model`, `get_inputs` and `get_init_inputs`, the format of KernelBench; the module holds its parameters.

    `fixed` replaces integer constants of the file for all shapes.
    """

    def __init__(self, path: Path, *, fixed: Sizes | None = None) -> None:
        super().__init__(path)
        self._fixed = dict(fixed or {})
        self._models: dict[tuple[str, bool], Any] = {}

    def parameters(self) -> list[str]:
        """See `Task`; the first parameter of a method is the module."""
        return positional(self._file.module(self._fixed).Model.forward)[1:]

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        module = self._file.module({**self._fixed, **shape})
        with seeds_moved(seed):
            return list(module.get_inputs())

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        device = next((str(value.device) for value in arguments if isinstance(value, torch.Tensor)), "cpu")
        if (device, double) not in self._models:
            self._models[device, double] = self._made(device, double)
        return self._models[device, double](*arguments)

    def _made(self, device: str, double: bool) -> Any:
        module = self._file.module(self._fixed)
        with default_dtype(torch.float32), torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            model = prepared(module.Model(*module.get_init_inputs()), self._harness)
        return (model.double() if double else model).to(device)


class FunctionalTask(Task):
    """A `Model` that passes its parameters to a function `fn`, which the kernel replaces.

    Args:
        path: the file.
        function: the name of the function in it.
        settings: `inputs` and `init`, the named arguments of `get_inputs` and `Model`, which a shape may replace; None
            where the file has constants and `get_init_inputs` instead.
    """

    def __init__(self, path: Path, *, function: str, settings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        super().__init__(path)
        self._function, self._settings = function, settings

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        if self._settings is None:
            module = self._file.module(shape)
            model = module.Model(*module.get_init_inputs())
            with seeds_moved(seed):
                values = module.get_inputs()
        else:
            module = self._file.module()
            given = {of: {**own, **known(shape, own)} for of, own in self._settings.items()}
            model = module.Model(**given["init"])
            with seeds_moved(seed):
                values = module.get_inputs(**given["inputs"])
        return recorded(prepared(model, self._harness), list(values), getattr(module, self._function))

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        return getattr(self._file.module(), self._function)(*arguments)


class DataTask(Task):
    """`generate_input(..., seed)` and `ref_kernel(data)`, the format of popcorn's leaderboards; data is one tuple.

    Args:
        path: the file.
        beside: see `ImportedFile`.
        destination: `harness.destination` of folders imported before that key existed; the reference writes its result
            there too, so that a kernel that does so changes no input.
        largest_seed: the largest seed that the task publishes, which bounds the drawn seeds unless it leaves too few. A
            task may put its seed into the values, which a large seed makes all alike.
        options: arguments of `generate_input` other than sizes.
    """

    MAKER = "generate_input"

    def __init__(
        self,
        path: Path,
        *,
        beside: Mapping[str, Path | None],
        destination: int | None = None,
        largest_seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, beside=beside)
        self._destination, self._options = destination, dict(options or {})
        self._seeds = None if largest_seed is None else max(largest_seed + 1, FEWEST_SEEDS)

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        given = self._options | {name: size for name, size in shape.items() if name != AS_PUBLISHED}
        make = getattr(self._file.module(), self.MAKER)
        data = make(**given, seed=seed % self._seeds if self._seeds else seed)
        return list(data) if isinstance(data, tuple | list) else [data]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        result = self._file.module().ref_kernel(tuple(arguments) if len(arguments) > 1 else arguments[0])
        target = None if self._destination is None else arguments[self._destination]
        if isinstance(result, torch.Tensor) and isinstance(target, torch.Tensor) and target.shape == result.shape:
            target.copy_(result)
        return result


class DefinitionTask(Task):
    """A definition's `run` with inputs of stated shapes, the format of flashinfer-bench and SOL-ExecBench.

    Args:
        path: the file with the reference.
        inputs: the `shape` (names of axes; None: a number), `dtype` and, for a number, `value` of each input.
        axes: returns all axes for those of the shape.
        generator: the function of the file that makes all tensors from the axes, where the definition names one.
    """

    def __init__(
        self,
        path: Path,
        *,
        inputs: Mapping[str, Mapping[str, Any]],
        axes: Callable[[Sizes], dict[str, int]],
        generator: str | None = None,
    ) -> None:
        super().__init__(path)
        self._inputs, self._axes, self._generator = inputs, axes, generator

    def parameters(self) -> list[str]:
        """See `Task`."""
        return list(self._inputs)

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        sizes = self._axes(shape)
        made = {name: one["value"] for name, one in self._inputs.items() if one["shape"] is None}
        if self._generator:
            made |= getattr(self._file.module(), self._generator)({**sizes, **made}, torch.device("cpu"))
        for name, one in self._inputs.items():
            if name not in made:
                made[name] = torch.randn([sizes[axis] for axis in one["shape"]]).to(getattr(torch, one["dtype"]))
        return [made[name] for name in self._inputs]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        return self._file.module().run(*arguments)


class FunctionTask(Task):
    """A plain function, and `inputs(shape, generator)` or `get_inputs()` of the same file."""

    def __init__(self, path: Path, *, function: str, beside: Mapping[str, Path | None] | None = None) -> None:
        super().__init__(path, beside=beside)
        self._function = function

    def parameters(self) -> list[str]:
        """See `Task`."""
        return positional(getattr(self._file.module(), self._function))

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        plain = self._file.module()
        if hasattr(plain, "inputs"):
            return list(plain.inputs(dict(shape), torch.Generator().manual_seed(seed)))
        plain = self._file.module(shape)
        with seeds_moved(seed):
            return list(plain.get_inputs())

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        return getattr(self._file.module(), self._function)(*arguments)
