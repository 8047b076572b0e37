"""The device part of a CUDA source, for a device compiler without torch's headers.

It has kernels, `__device__` functions, `constexpr` functions, types, constants, macros, CUDA includes. Host functions,
bindings, prototypes, host state, and all other includes are blank. A template that only host code instantiates is
parsed, not compiled. Kernels with torch types (accessors, `at::opmath_type`) still need torch and do not compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from audit.review.cuda_source import CudaSource, Function, Include
from audit.review.token_scan import blanked

_CUDA_HEADER = re.compile(
    r"(?:cuda|mma\.h|cooperative_groups|cub/|thrust/|cutlass/|cute/|curand_kernel|curand_(?:philox|mtgp)\w*|"
    r"device_\w+\.h|driver_types|host_defines|library_types|math_constants|math_functions|"
    r"nv/target|nvfunctional|sm_\d+_|surface_|texture_|vector_functions|vector_types)"
)
_TORCH_HEADER = re.compile(r"(?:torch|ATen|c10|caffe2|pybind11)/|Python\.h")
_CONTAINERS = frozenset((
    "translation_unit", "namespace_definition", "linkage_specification", "declaration_list",
    "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
))  # fmt: skip
_TYPES = frozenset(
    {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier", "alias_declaration", "type_definition"}
)
_FREE = frozenset(
    {"using_declaration", "namespace_alias_definition", "static_assert_declaration", "template_declaration"}
)
_DEVICE = re.compile(r"\b__(?:global|device|constant|shared|managed)__\b")
_CONSTANT = re.compile(r"\bconst(?:expr)?\b")
_HOST = re.compile(
    r"\b(?:(?:torch|at|c10|pybind11|py)\s*(?:::|;|$)|namespace\s+(?:torch|at|c10|pybind11|py)\b|Tensor\b|TORCH_\w+|"
    r"std\s*::\s*(?:vector|string|map|set|unordered_\w+|function|optional|\w+_ptr|mutex|thread|once_flag|atomic|chrono)\b|"
    r"cuda(?:Stream|Event|Graph\w*)_t\b|cu(?:blas|dnn)\w+)"
)


def device_part(source: CudaSource) -> str:
    """Return the source with a blank host part; every line keeps its number."""
    return blanked(source.code, sorted(set(_dropped(source))))


def _dropped(source: CudaSource) -> Iterator[tuple[int, int]]:
    for include in source.includes:
        if not _is_needed_include(source, include):
            yield include.start, include.end
    functions = {function.end: function for function in source.functions}
    for node in _pieces(source.tree.root_node):
        start, end = node.start_byte, node.end_byte
        if end in functions and functions[end].start == start:
            needed = _is_needed_function(source, functions[end])
        else:
            needed = _is_needed(node, source.masked[start:end])
        if not needed:
            yield start, end


def _pieces(root: Node) -> Iterator[Node]:
    """Yield the declarations at namespace scope, also inside conditionals and linkage blocks."""
    containers = [root]
    while containers:
        container = containers.pop()
        heads = [container.child_by_field_name(field) for field in ("name", "condition", "value")]
        for node in container.named_children:
            if node.type in _CONTAINERS and not _declares_one(node):
                containers.append(node)
            elif node not in heads:
                yield node


def _declares_one(node: Node) -> bool:
    """Return whether a linkage specification is one declaration, `extern "C" void f() {...}`, not a block."""
    body = node.child_by_field_name("body")
    return node.type == "linkage_specification" and body is not None and body.type != "declaration_list"


def _is_needed_function(source: CudaSource, function: Function) -> bool:
    if function.kind != "host":
        return True
    constant = "constexpr" in source.masked[function.start : function.body_start]
    return constant and not _HOST.search(source.masked, function.start, function.end)


def _is_needed(node: Node, masked: str) -> bool:
    kind = node.type
    if kind.startswith("preproc"):
        return True
    if _DEVICE.search(masked):
        return True
    if _HOST.search(masked):
        return False
    if kind in ("declaration", "linkage_specification"):
        return _CONSTANT.search(masked) is not None
    return kind in _TYPES or kind in _FREE or kind == "ERROR"


def _is_needed_include(source: CudaSource, include: Include) -> bool:
    quoted = '"' in source.code[include.start : include.end]
    return bool(_CUDA_HEADER.match(include.header)) or (quoted and not _TORCH_HEADER.match(include.header))


_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?P<header>[^>"\n]*)[>"][^\n]*$', re.MULTILINE)
_HALF = re.compile(r"half|HALF|fp16")
_BFLOAT = re.compile(r"bfloat16|BFLOAT16|bf16")
_CCCL = re.compile(r"cooperative_groups|cuda/|cuda_pipeline|nv/target")
# Headers that NVRTC reads; the content of others is built in or useless in device code.
_READ = re.compile(r"mma\.h|cooperative_groups|cuda_(?:fp|bf)\d+\.h|cuda/|cuda_pipeline|nv/target|math_constants\.h")


def device_text(source: CudaSource) -> str:
    """Return the text for NVRTC, with the source's line numbers."""
    cut = device_part(source)
    headers = [match["header"] for match in _INCLUDE_LINE.finditer(cut)]
    body = _INCLUDE_LINE.sub(lambda match: match.group() if _READ.match(match["header"]) else "", cut)
    head = ["#define CUFAST_CCCL\n"] if any(_CCCL.match(header) for header in headers) else []
    head += ["#define CUFAST_STD\n"] if re.search(r"\bstd\b", source.masked) else []
    head += ['#include "cufast/device_prelude.h"\n']
    head += ["#include <cuda_fp16.h>\n"] if _HALF.search(source.masked) else []
    head += ["#include <cuda_bf16.h>\n"] if _BFLOAT.search(source.masked) else []
    return "".join((*head, "#line 1\n", body))
