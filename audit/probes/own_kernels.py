"""The kernels of a claimed source, and whether torch can build those of a `.py`; the source is only parsed."""

from __future__ import annotations

from pathlib import Path

from audit.build.python.source import PythonSource
from audit.model.errors import Unsupported
from audit.review.cuda_source import parse


def own_kernels(source: Path) -> list[str]:
    """Return the sorted names of a source's kernels: of a `.py`, those under `triton.jit` and in its CUDA texts."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        return sorted({*PythonSource(text).own_kernels})
    return sorted({function.name for function in parse(text).functions if function.kind == "kernel"})


def refused_by_torch(source: Path) -> str:
    """Return why torch can build no extension of a `.py` whose kernels are all in extensions, so that other code runs
    in their place at every size; empty if it may."""
    if source.suffix != ".py":
        return ""
    parsed = PythonSource(source.read_text(encoding="utf-8"))
    try:
        refusals = [] if parsed.triton_kernels else [one.refusal for one in parsed.inline]
    except Unsupported:
        return ""
    return refusals[0] if all(refusals) and refusals else ""
