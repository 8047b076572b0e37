"""What nvcc, or the import of its library, refuses and g++ takes, found in the text of a source before a build."""

from __future__ import annotations

import re

from audit.build.second_compiler import HOST_WARP_SIZE, UNCLOSED
from audit.model.errors import CompileError
from audit.review.cuda_source import CudaSource
from audit.review.token_scan import unclosed

_WARP_SIZE = re.compile(r"(?<![.\w])(?<!->)warpSize\b")
_OWN_WARP_SIZE = re.compile(r"#\s*define\s+warpSize\b|\b(?!return\b)\w+\s+warpSize\s*[={(;,)]")
_LAUNCHED_LAMBDA = re.compile(r"\[[^\[\]\n]*\]\s*__global__\b")
_UNROLLED = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t(]+(?P<name>[A-Za-z_]\w*)", re.MULTILINE)


def require_closed_texts(source: CudaSource) -> None:
    """Raise CompileError where a text in quotes ends with its line: a `\\n` of a Python text that is not raw."""
    if (start := unclosed(source.code)) is not None:
        text = UNCLOSED.format(line=source.line_of(start), quote=source.code[start])
        raise CompileError(text, header_set="micro")


def require_device_words(source: CudaSource) -> None:
    """Raise CompileError where host code needs the size of a warp, a lambda is `__global__`, or `#pragma unroll` names
    a macro.

    nvcc leaves `warpSize` of host code an undefined symbol, cannot launch a lambda, and expands no macro in the pragma.
    """
    if (made := _LAUNCHED_LAMBDA.search(source.masked)) is not None:
        text = f"error: line {source.line_of(made.start())}: a __global__ lambda: nvcc refuses its launch"
        raise CompileError(text, header_set="micro")
    if not _OWN_WARP_SIZE.search(source.masked):
        for used in _WARP_SIZE.finditer(source.masked):
            function = source.function_at(used.start())
            if function is not None and function.kind == "host":
                raise CompileError(HOST_WARP_SIZE, header_set="micro")
    for pragma in _UNROLLED.finditer(source.masked):
        if re.search(rf"#[ \t]*define[ \t]+{pragma['name']}\b(?!\()", source.masked):
            line = source.line_of(pragma.start("name"))
            text = (
                f"error: line {line}: #pragma unroll {pragma['name']}: nvcc expands no macro there, so it refuses this"
            )
            raise CompileError(text, header_set="micro")


def reserved(name: str, source: CudaSource) -> str:
    """Return nvcc's error about device code that calls a name of the C library's own."""
    used = re.search(rf"\b{name}\b", source.masked)
    line = f"line {source.line_of(used.start())}: " if used else ""
    return f"error: {line}{name} is no function of device code, so nvcc refuses this source"
