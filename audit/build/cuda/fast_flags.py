"""Translate published nvcc flags for the fast build: flags of NVRTC for the device part, macros for the host part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from audit.build.cuda.fast_toolchain import NotFast
from audit.build.cuda.gpu import SPECIFIC
from audit.build.names import TORCH_MACROS

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
_MACRO = re.compile(r"-(?P<kind>[DU])(?P<name>\w+)(?:=(?P<value>.*))?")


@dataclass(frozen=True)
class Flags:
    """`device` are NVRTC's flags, in order; `defines` are preprocessor lines for the host part."""

    device: tuple[str, ...]
    defines: str


def translated(flags: Sequence[str], *, compute_capability: int, standard: str, portable: bool = False) -> Flags:
    """Return the flags for both compilers.

    Args:
        flags: nvcc's as published, one an entry.
        compute_capability: that of the one target, e.g. 90.
        standard: the default C++ standard of torch's builder, e.g. "c++17".
        portable: whether to make PTX, which the driver compiles for newer GPUs too, instead of code for that target.

    Raises:
        NotFast: a flag whose effect on NVRTC is unknown.
    """
    target = f"compute_{compute_capability}"
    if not portable:
        target = f"sm_{compute_capability}{SPECIFIC.get(compute_capability, '')}"
    device = [f"--gpu-architecture={target}", *_TORCH]
    if not any("std=" in flag for flag in flags):
        device.append(f"--std={standard}")
    defines = []
    for flag in flags:
        if _HOST_OR_DEFAULT.fullmatch(flag):
            continue
        ptxas = _PTXAS.fullmatch(flag)
        if ptxas is None and not _SAME.fullmatch(flag):
            raise NotFast(f"the flag {flag}")
        device.append(f"--ptxas-options={ptxas['option']}" if ptxas else _doubled(flag))
        if macro := _MACRO.fullmatch(flag):
            value = "1" if macro["value"] is None else macro["value"]
            defines.append(
                f"#define {macro['name']} {value}\n" if macro["kind"] == "D" else f"#undef {macro['name']}\n"
            )
    return Flags(tuple(device), "".join(defines))


def _doubled(flag: str) -> str:
    """Return a long option with two dashes, as NVRTC requires for all but one."""
    return flag if flag.startswith("--") or flag[1] in "DU" or flag == "-lineinfo" else f"-{flag}"
