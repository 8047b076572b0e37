"""The kernels of a claimed source, whether torch can build those of a `.py`, and what host code says of their launches;
the source is only parsed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from audit.build.python.source import PythonSource
from audit.model import python_text
from audit.model.errors import Unsupported
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse

SMALL_NUMBER = 8
"""Smaller numbers in comparisons are dimensions and vector widths."""
LAUNCH = re.compile(r"<<<|__global__|Launch\w*Kernel|LaunchKernel|\b(?:cub|thrust)\s*::|#\s*include\s*\"")
"""Code that may launch a kernel: by syntax, by a call of the driver or runtime, or in an included file."""


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


def launches_nothing(source: Path) -> bool:
    """Return whether a `.cu` has no code, macros included, that may launch a kernel; False for a `.py`."""
    return source.suffix == ".cu" and not LAUNCH.search(source.read_text(encoding="utf-8"))


def sizes_decide(source: Path) -> bool:
    """Return whether host code compares with a number that may be a size."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        compared = [node for node in ast.walk(python_text.module(text)) if isinstance(node, ast.Compare)]
        numbers = [each.value for node in compared for each in ast.walk(node) if isinstance(each, ast.Constant)]
        return any(type(number) is int and number >= SMALL_NUMBER for number in numbers)
    reading = CudaReading(parse(text))
    host = [reading.text(node) for node in reading.nodes("binary_expression") if reading.in_host(node)]
    found = [re.search(r"(?:[<>]=?|[!=]=)\s*(\d+|[A-Z]\w+)[uUlL]*$", one) for one in host]
    return any(not one[1].isdigit() or int(one[1]) >= SMALL_NUMBER for one in found if one)


def is_one_of(kernel: str, names: list[str]) -> bool:
    """Return whether a kernel's device name, `void ns::k<float, 256>(float*)` or `k<T>`, is one of those functions."""
    return any(re.search(rf"(?<![\w]){re.escape(name)}\s*(?:[<(]|$)", kernel) for name in names)
