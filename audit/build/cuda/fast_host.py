"""The host part of a CUDA source for g++: kernels become stubs that launch the device code bound to them.

Published flags of nvcc become flags of NVRTC for the device part and macros for the host part.

The division is that of nvcc: a kernel's function on the host packs its parameters and launches, `K<<<cfg>>>(args)`
configures and calls it. C++ itself handles conversions of arguments, overloads and template arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.build.cuda.fast_toolchain import NotFast
from audit.build.cuda.gpu import SPECIFIC
from audit.build.emulated.edits import Edit, apply, line_marker
from audit.build.emulated.rewrite import defines, operator_headers
from audit.build.settings import TORCH_MACROS
from audit.review.cuda_source import CudaSource, Function, Launch
from audit.review.token_scan import LONGEST
from audit.review.unsupported import CLUSTERS, unsupported

KEY = "cufast_key"
_REPLACED = re.compile(
    r"(?<![\w:])(?:::\s*)?(?P<name>cudaMemcpyToSymbol(?:Async)?|cudaMemcpyFromSymbol|cudaGetSymbolAddress|"
    r"cudaLaunchKernel|cudaFuncSetAttribute|cudaFuncGetAttributes|"
    r"cudaOccupancyMaxActiveBlocksPerMultiprocessor|cudaOccupancyMaxPotentialBlockSize)\b(?=\s*(?:<[^;<>]*>\s*)?\()"
)
_NOT_REPLACED = re.compile(
    r"\b(?:cudaFunc[GS]et\w+|cudaOccupancy\w+|cuda\w*Symbol\w*|cudaLaunch(?:Kernel|Cooperative)\w*|cudaGetKernel)\b"
)
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_INCLUDE = re.compile(r"(?:#|%:|\?\?=)\s*include\b")
_OTHER_FILES = re.compile(
    r"(?:#|%:|\?\?=)\s*(?:include_next|import|embed|include(?!\w)(?!\s*[<\"]))|__has_(?:include|embed)"
)
"""Directives that may read unknown files; NVRTC does not list the files that it read."""
# Headers that the precompiled header includes, or that are for device code alone.
_HEADER_NOT_READ = re.compile(
    r"(?:torch/|pybind11/|ATen/ATen\.h|ATen/cuda/CUDAContext\w*\.h|mma\.h|cooperative_groups|cuda_pipeline|cuda/|"
    r"cub/|thrust/|cutlass/|cute/|curand|device_(?:launch|functions|atomic)|sm_\d+_|math_functions)"
)
_TORCH = (*TORCH_MACROS, "-default-device")  # NVRTC's form of the relaxed constexpr
_SAME = re.compile(
    r"--?(?:use_fast_math|ftz=\w+|prec-div=\w+|prec-sqrt=\w+|fmad=\w+|maxrregcount=\d+|generate-line-info|"
    r"extra-device-vectorization|restrict|std=c\+\+(?:14|17|20))|-lineinfo|-[DU]\w+(?:=[\w.+-]+)?"
)
_HOST_OR_DEFAULT = re.compile(
    r"-O3|--optimize=3|--?expt-relaxed-constexpr|--expt-extended-lambda|--extended-lambda|-w|-fPIC|-Wall|"
    r"--threads=\d+|--ptxas-options=-O3|-Xptxas=-O3|-Xcompiler=-\w+"
)
_PTXAS = re.compile(r"(?:-Xptxas|--ptxas-options)=(?P<option>-[\w=,.-]+)")


def host_part(source: CudaSource, *, name: str) -> str:
    """Return the C++ text of the source's host side, with the source's line numbers; `name` is the file's for compiler
    messages. Raises NotFast for a construct that this build cannot take."""
    _refuse(source)
    edits = [
        *(_stub(source, each) for each in source.functions if each.kind == "kernel"),
        *(each for function in source.functions for each in _device_function(source, function)),
        *(edit for launch in source.launches for edit in _launch(launch)),
        *(Edit(*match.span("name"), f"::cufast::{match['name']}") for match in _REPLACED.finditer(source.masked)),
        *(Edit(each.start, each.end, "") for each in source.includes if _HEADER_NOT_READ.match(each.header)),
    ]
    return f'{line_marker(1, name)}{apply(source, edits)}\n#include "cufast/exports.h"\n'


def operator_includes(source: CudaSource, available: frozenset[str]) -> str:
    """Return the includes for operators called as `torch::NAME(` that have a header in torch."""
    return "".join(f"#include <ATen/ops/{name}.h>\n" for name in operator_headers(source) if name in available)


def _refuse(source: CudaSource) -> None:
    for found in unsupported(source, whole_libraries=True):
        if found.construct != CLUSTERS:  # the kernel states their size; a launch that does is not replaced
            raise NotFast(found.construct, line=found.line)
    for match in _NOT_REPLACED.finditer(source.masked):
        if not _REPLACED.match(source.masked, match.start()):
            raise NotFast(match.group(), line=source.line_of(match.start()))
    spliced = _SPLICE.sub("", source.code)
    if other := _OTHER_FILES.search(spliced):
        raise NotFast(f"the directive '{other.group()}'")
    if len(_INCLUDE.findall(spliced)) != len(source.includes):
        raise NotFast("an include that is not plain")
    for include in source.includes:
        if ".." in include.header or include.header.startswith("/"):
            raise NotFast(f"the header {include.header} by its path", line=include.line)
        if source.code[include.start : include.end].rstrip().endswith('"') and not include.header.startswith("cuda"):
            raise NotFast(f"the header {include.header} beside the source", line=include.line)


def _stub(source: CudaSource, kernel: Function) -> Edit:
    packed = []
    for parameter in kernel.parameters:
        head, _, arguments = parameter.text.partition("<")
        pattern = head + arguments.rpartition(">")[2] if ">" in arguments else parameter.text
        if not parameter.name or "&" in pattern:
            raise NotFast(f"the kernel parameter '{parameter.text[:LONGEST]}'", line=kernel.line)
        packed.append(f"(void*)&{parameter.name}{'...' * ('...' in parameter.text)}, ")
    if source.macro_at(kernel.start):
        raise NotFast("a kernel in a macro", line=kernel.line)
    body = f"{{ static char {KEY}; void* cufast_list[] = {{{''.join(packed)}nullptr}}; "
    return Edit(kernel.body_start, kernel.end, body + f"::cufast::launch(&{KEY}, cufast_list); }}")


def _device_function(source: CudaSource, function: Function) -> Iterator[Edit]:
    """Remove the body of a device function, which no host code runs; a `constexpr` one may be evaluated."""
    head = source.masked[function.start : function.body_start]
    if function.kind == "device" and not function.for_host and "constexpr" not in head:
        yield Edit(function.body_start, function.end, "{}")


def _launch(launch: Launch) -> Iterator[Edit]:
    yield Edit(launch.start, launch.configuration_start, "(::cufast::configure(")
    yield Edit(launch.configuration_end, launch.arguments_start, f"), {launch.kernel_text}(")
    yield Edit(launch.end, launch.end, ")")


@dataclass(frozen=True)
class Flags:
    """`device` are NVRTC's flags, in order; `defines` are preprocessor lines for the host part."""

    device: tuple[str, ...]
    defines: str


def translated(flags: Sequence[str], *, compute_capability: int, standard: str, portable: bool = False) -> Flags:
    """Return the flags for both compilers. Raises NotFast for a flag whose effect on NVRTC is unknown.

    Args:
        flags: nvcc's as published, one an entry.
        compute_capability: that of the one target, e.g. 90.
        standard: the default C++ standard of torch's builder, e.g. "c++17".
        portable: see `fast.build`.
    """
    target = f"compute_{compute_capability}"
    if not portable:
        target = f"sm_{compute_capability}{SPECIFIC.get(compute_capability, '')}"
    device = [f"--gpu-architecture={target}", *_TORCH]
    if not any("std=" in flag for flag in flags):
        device.append(f"--std={standard}")
    for flag in flags:
        if _HOST_OR_DEFAULT.fullmatch(flag):
            continue
        ptxas = _PTXAS.fullmatch(flag)
        if ptxas is None and not _SAME.fullmatch(flag):
            raise NotFast(f"the flag {flag}")
        device.append(f"--ptxas-options={ptxas['option']}" if ptxas else _doubled(flag))
    return Flags(tuple(device), defines(flags))


def _doubled(flag: str) -> str:
    """Return a long option with two dashes, as NVRTC requires for all but one."""
    return flag if flag.startswith("--") or flag[1] in "DU" or flag == "-lineinfo" else f"-{flag}"
