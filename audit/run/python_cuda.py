"""Runs in a child: a `.py` variant on a GPU as one function."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from audit.build.python.load import function_of, stand_in
from audit.build.settings import CudaPython
from audit.model import Harness


def entry_of(settings: CudaPython, entry: str, harness: Harness) -> Callable[..., Any]:
    """Return the function of that name, or a `ModelNew` in the harness's mode and dtype.

    Raises:
        LookupError: it has neither; what the module itself raises comes through.
    """
    os.environ.update(settings.environment)
    if settings.extensions is not None:
        from torch.utils import cpp_extension  # reads the environment when it is imported

        plain = getattr(cpp_extension.load_inline, "plain", cpp_extension.load_inline)
        stand_in(lambda _, key: _extension(settings, key), otherwise=plain)
    return function_of(settings.python, entry, init_inputs=settings.init_inputs, device="cuda", harness=harness)


def _extension(settings: CudaPython, key: str) -> Any | None:
    known = (settings.extensions or {}).get(key)
    if isinstance(known, str):
        raise RuntimeError(known)
    return None if known is None or settings.folder is None else _module(settings.folder / known[0], known[1])


@cache
def _module(library: Path, name: str) -> Any:
    """Loaded once a process, since a module may not register its types twice."""
    spec = importlib.util.spec_from_file_location(name, library)
    if spec is None or spec.loader is None:
        raise ImportError(f"{library.name}: no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
