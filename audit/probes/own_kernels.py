"""The kernels that a claimed source brings along, and whether torch can build those of a `.py`; nothing is run."""

from __future__ import annotations

from pathlib import Path

from audit.build.python.source import PythonSource
from audit.model.errors import Unsupported
from audit.review.cuda_source import parse


def own_kernels(source: Path) -> list[str]:
    """The names of the kernels in a source, sorted: of a `.py`, those under `triton.jit` and in its CUDA texts."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        return sorted({*PythonSource(text).own_kernels})
    return sorted({function.name for function in parse(text).functions if function.kind == "kernel"})


def refused_by_torch(source: Path) -> str:
    """Why torch can build no extension of a `.py`, where they hold all its kernels; empty where nothing says so.

    What runs in their place does so at every size.
    """
    if source.suffix != ".py":
        return ""
    parsed = PythonSource(source.read_text(encoding="utf-8"))
    try:
        refusals = [] if parsed.triton_kernels else [one.refusal for one in parsed.inline]
    except Unsupported:
        return ""
    return refusals[0] if all(refusals) and refusals else ""
