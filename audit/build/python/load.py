"""Runs in a child: load a `.py` variant as one function, under a module name of its own.

An entry is a function of that name, or else KernelBench's class `ModelNew`: it is made with the reference's
`get_init_inputs` after `torch.manual_seed(42)`, as in that benchmark, so that a reference made likewise has the same
parameters.
"""

from __future__ import annotations

import gc
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from audit.build.cache import checked, key_of
from audit.claims.python_text import MODEL
from audit.model import Harness

MODEL_SEED = 42
TYPES = "task"
"""The module of type names of popcorn's leaderboards, which submissions import for annotations; it is missing here."""
LoadInline = Callable[..., Any]


def function_of(
    source: Path,
    entry: str,
    *,
    init_inputs: Sequence[Any],
    device: str,
    harness: Harness,
    digests: Mapping[Path, str] | None = None,
) -> Callable[..., Any]:
    """Run the source as a new module and return its entry.

    Args:
        source: the file.
        entry: the function's name.
        init_inputs: the arguments of `ModelNew`.
        device: the torch device for the parameters of a `ModelNew`.
        harness: the mode and dtype of a `ModelNew`; the names of the last arguments.
        digests: see `audit.build.cache`.

    Raises:
        Changed: the file is not the one that was built.
        LookupError: there is neither, with the module's functions; or the class takes other arguments.
    """
    module = _loaded(source, source.read_bytes() if digests is None else checked(source, digests))
    function = vars(module).get(entry)
    if callable(function):
        return by_name(function, harness.keywords)
    model = vars(module).get(MODEL)
    if not isinstance(model, type):
        names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
        raise LookupError(f"no function {entry} and no class {MODEL}; the module has: {', '.join(names) or 'none'}")
    _refuse_arguments(model, init_inputs)
    torch.manual_seed(MODEL_SEED)
    made = model(*init_inputs)
    made = prepared(made, harness).to(device) if isinstance(made, torch.nn.Module) else made
    return by_name(torch.no_grad()(made), harness.keywords)


def by_name(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Return a function of positions that hands its last arguments on by those names."""
    if not names:
        return function

    def call(*arguments: Any) -> Any:
        positional = arguments[: len(arguments) - len(names)]
        return function(*positional, **dict(zip(names, arguments[len(positional) :], strict=True)))

    return call


def _refuse_arguments(model: type, init_inputs: Sequence[Any]) -> None:
    try:
        inspect.signature(model).bind(*init_inputs)
    except TypeError as error:
        count = f"{len(init_inputs)} argument{'' if len(init_inputs) == 1 else 's'}"
        code = getattr(vars(model).get("__init__"), "__code__", None)
        at = f"line {code.co_firstlineno}: " if code else ""
        says = f"{at}{MODEL} does not take the {count} of the reference's get_init_inputs: {error}"
        raise LookupError(says) from None
    except ValueError:  # Python does not know the signature
        return


def prepared(model: torch.nn.Module, harness: Harness) -> torch.nn.Module:
    """Return the module in the harness's mode and dtype."""
    model = model.eval() if harness.mode == "eval" else model
    return model if harness.dtype is None else model.to(getattr(torch, harness.dtype))


def replace_load_inline(extension: Callable[[str, str], Any | None], *, otherwise: LoadInline | None) -> None:
    """Replace torch's `load_inline` by one that first looks for a finished build: `extension` returns the module of
    that name for the key of a call's texts, or None. Then `otherwise` is called; None raises RuntimeError."""
    from torch.utils import cpp_extension  # its import asks for a GPU, after which a fork server forks no CUDA session

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, *more: Any, **named: Any) -> Any:
        key = key_of(cpp_sources, cuda_sources, named.get("functions"))
        found = None if more else extension(name, key)
        if found is not None:
            return found
        if otherwise is None:
            raise RuntimeError(f"load_inline of {name}: the build stage read other texts than these")
        return otherwise(name, cpp_sources, cuda_sources, *more, **named)

    load_inline.plain = otherwise  # type: ignore[attr-defined]
    cpp_extension.load_inline = load_inline


def _loaded(source: Path, text: bytes) -> ModuleType:
    """Run a text as the module of that file, without reading the file or its bytecode."""
    name = f"audited_{source.stem}"
    if sys.modules.pop(name, None) is not None:
        gc.collect()  # objects of an earlier session of this process
    spec = importlib.util.spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source.name}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    if TYPES not in sys.modules and importlib.util.find_spec(TYPES) is None:
        sys.modules[TYPES] = _type_names()
    sys.modules[name] = module  # dataclasses and Triton look their module up
    lines = text.decode("utf-8", errors="replace").splitlines(keepends=True)
    linecache.cache[str(source)] = (len(text), None, lines, str(source))  # Triton compiles the source's lines
    exec(compile(text, str(source), "exec", dont_inherit=True), vars(module))
    return module


def _type_names() -> ModuleType:
    module = ModuleType(TYPES)

    def named(name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return object

    vars(module)["__getattr__"] = named
    return module
