"""The task of an imported claim, for the `reference.py` that `audit import` writes.

Each published format states a task in its own way: here a module with parameters, or one that hands them to a function;
`imported_functions` has the others. The file is loaded lazily, so that importing `reference.py` runs no code of others.
The `[harness]` of `claim.toml` applies: a module's mode, and the dtype of parameters and arguments.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from audit.build.python.load import prepared
from audit.run.calls.containers import leaves, rebuilt
from audit.run.calls.harness import cast, stated
from audit.run.calls.outputs import flattened
from audit.run.references.imported_file import ImportedFile, Sizes, Tied, as_on_a_gpu, seeds_moved
from audit.run.references.in_float64 import computed, default_dtype
from audit.run.references.work import counted

Arguments = list[Any]
Result = torch.Tensor | tuple[torch.Tensor, ...]
_TWO_DEVICES = re.compile(r"\b(?:same device|device type|on cpu)\b|\bcpu\b.*\bcuda\b|\bcuda\b.*\bcpu\b", re.IGNORECASE)
"""What torch says of operands on a CPU and on a GPU."""
SEED = 42
"""The seed that KernelBench and `audit.build.python.load` set before they make a module."""


class Task:
    """The common part of all tasks: inputs on the CPU, the float64 result, and a lower bound of the work.

    `path` is a file in `original/` of a claim folder.
    """

    def __init__(
        self, path: Path, *, beside: Mapping[str, Path | None] | None = None, tied: Tied | None = None
    ) -> None:
        self._file = ImportedFile(path, beside=beside, tied=tied)
        self._harness = stated(path.parents[1])
        self._makes_on_cpu = False

    def inputs(self, shape: Sizes, generator: torch.Generator) -> Arguments:
        """Draw the arguments of one case, on the CPU."""
        seed = int(torch.randint(2**31, (1,), generator=generator))
        with torch.random.fork_rng(devices=[]), torch.no_grad(), as_on_a_gpu():
            torch.manual_seed(seed)
            return [cast(on_cpu(value), self._harness) for value in self._drawn(shape, seed)]

    def reference(self, *arguments: Any) -> Result:
        """Return the result that the claim was compared with."""
        with torch.no_grad(), faked_for(arguments):
            return outputs_in(self._on_its_device(arguments, double=False))

    def oracle(self, *arguments: Any) -> Result:
        """Return the result with arguments, parameters and torch's default dtype in float64, see `in_float64`."""
        with torch.no_grad(), faked_for(arguments):
            return outputs_in(computed(partial(self._on_its_device, double=True), arguments))

    def _on_its_device(self, arguments: Sequence[Any], *, double: bool) -> Any:
        """Return the file's result; of one that makes tensors where torch makes them by default, on the CPU, for
        arguments on a GPU, with the GPU as torch's default device."""
        gpu = next((one.device for one in arguments if isinstance(one, torch.Tensor) and one.is_cuda), None)
        if gpu is None or not self._makes_on_cpu:
            try:
                return self._computed(arguments, double=double)
            except (RuntimeError, ValueError) as error:
                if gpu is None or not _TWO_DEVICES.search(str(error)):
                    raise
                self._makes_on_cpu = True
        with torch.device(gpu):
            return self._computed(arguments, double=double)

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

    def estimated_work(self, shape: Sizes) -> int | None:
        """Return `work` by shapes alone, on torch's meta device; None where the file does not run there."""
        with torch.device("meta"), torch.no_grad(), as_on_a_gpu(meta=True):
            return counted(lambda: self._computed(self._drawn(shape, 0), double=False))

    def blank(self, shape: Sizes) -> Arguments:
        """Return the arguments of a shape, without values where called on torch's meta device."""
        return self._drawn(shape, 0)

    def work(self, shape: Sizes) -> int | None:
        """Return the work of one call, inputs included, see `work.counted`: `estimated_work` if there is one, else by
        running it; None where the file raises."""
        if (estimated := self.estimated_work(shape)) is not None:
            return estimated
        with torch.random.fork_rng(devices=[]), torch.no_grad(), as_on_a_gpu():
            return counted(lambda: self._computed(self._drawn(shape, 0), double=False))

    def parameters(self) -> list[str]:
        """Return the names of the first arguments, as far as the file has them."""
        return []

    def at(self, shape: Sizes) -> None:
        """Compute for that shape from now on, as after its arguments were drawn; a task may hold a module."""

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        """Return the arguments, on the device that the file chooses."""
        raise NotImplementedError

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        """Return the file's result for the arguments."""
        raise NotImplementedError


class ModuleTask(Task):
    """`Model`, `get_inputs` and `get_init_inputs`, the format of KernelBench; the module holds its parameters.

    `fixed` replaces integer constants of the file for all shapes; `tied`, see `ImportedFile`. A module is made for what
    `get_init_inputs` returns at the shape whose arguments were drawn last.
    """

    def __init__(self, path: Path, *, fixed: Sizes | None = None, tied: Tied | None = None) -> None:
        super().__init__(path, tied=tied)
        self._fixed = dict(fixed or {})
        self._sizes = self._fixed
        self._models: dict[tuple[str, bool, str], Any] = {}

    def at(self, shape: Sizes) -> None:
        """See `Task`."""
        self._sizes = {**self._fixed, **shape}

    def parameters(self) -> list[str]:
        """See `Task`; the first parameter of a method is the module."""
        return positional(self._file.module(self._fixed).Model.forward)[1:]

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        self.at(shape)
        module = self._file.module(self._sizes)
        with seeds_moved(seed):
            return list(module.get_inputs())

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        device = next((str(value.device) for value in arguments if isinstance(value, torch.Tensor)), "cpu")
        module = self._file.module(self._sizes)
        made_with = module.get_init_inputs()
        if (key := (device, double, repr(made_with))) not in self._models:
            self._models[key] = self._made(module, made_with, device, double)
        return self._models[key](*arguments)

    def _made(self, module: Any, made_with: Sequence[Any], device: str, double: bool) -> Any:
        with default_dtype(torch.float32), torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            model = prepared(module.Model(*made_with), self._harness)
        return (model.double() if double else model).to(device)


class FunctionalTask(Task):
    """A `Model` that passes its parameters to a function `fn`, which the kernel replaces.

    Args:
        path: the file.
        function: the name of the function in it.
        settings: `inputs` and `init`, the named arguments of `get_inputs` and `Model`, which a shape may replace; None
            where the file has constants and `get_init_inputs` instead.
        wanted: the places of the arguments whose gradients are the results, as robust-kbench asks for; a gradient of
            the function's result is the last argument then.
    """

    def __init__(
        self,
        path: Path,
        *,
        function: str,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        wanted: Sequence[int] = (),
    ) -> None:
        super().__init__(path)
        self._function, self._settings, self._wanted = function, settings, wanted

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        if self._settings is None:
            module = self._file.module(shape)
            model = module.Model(*module.get_init_inputs())
            with seeds_moved(seed):
                values = module.get_inputs()
        else:
            module = self._file.module()
            given = {of: {key: shape.get(key, one) for key, one in own.items()} for of, own in self._settings.items()}
            model = module.Model(**given["init"])
            with seeds_moved(seed):
                values = module.get_inputs(**given["inputs"])
        arguments = recorded(prepared(model, self._harness), list(values), getattr(module, self._function))
        return [*arguments, torch.randn_like(self._called(arguments))] if self._wanted else arguments

    def _called(self, arguments: Sequence[Any]) -> Any:
        return getattr(self._file.module(), self._function)(*arguments)

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        if not self._wanted:
            return self._called(arguments)
        *given, gradient = arguments
        with torch.enable_grad():
            for place in self._wanted:
                given[place] = given[place].detach().requires_grad_()
            return torch.autograd.grad(self._called(given), [given[place] for place in self._wanted], gradient)


def positional(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters before those that take any number of arguments."""
    given = inspect.signature(function).parameters.values()
    return [one.name for one in takewhile(lambda one: one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD), given)]


def outputs_in(value: Any) -> Result:
    """Return the tensor of a result, also out of a container, or a tuple of several. Raises TypeError: there is no
    tensor, or also an object of another type."""
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
    """Return the arguments with which `model(*values, fn=…)` calls that function, in the order of its parameters."""
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
    """Return a copy on the CPU, also within lists, tuples and dicts."""
    return rebuilt(value, [_copied(leaf) for leaf in leaves(value)])


def _copied(leaf: Any) -> Any:
    return leaf.detach().to("cpu").clone() if isinstance(leaf, torch.Tensor) else copy.copy(leaf)


def faked_for(arguments: Sequence[Any]) -> AbstractContextManager[None]:
    """Return `as_on_a_gpu` where the arguments lie on the CPU; on a GPU a baseline is timed as it is."""
    on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for value in arguments)
    return nullcontext() if on_gpu else as_on_a_gpu()


def bytes_written(result: Result, arguments: Arguments) -> int:
    """Return the least bytes that a kernel must write: those of outputs that share no memory with an argument."""
    shared = [value.untyped_storage()._cdata for value in arguments if isinstance(value, torch.Tensor)]
    outputs = result if isinstance(result, tuple) else (result,)
    own = [one for one in outputs if one.untyped_storage()._cdata not in shared]
    return sum(min(one.numel() * one.element_size(), one.untyped_storage().nbytes()) for one in own)
