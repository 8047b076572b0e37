"""A `.py` variant on the emulated device: torch on the CPU, Triton in its interpreter, CUDA texts emulated."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

from audit.build.cache import cache_folder, digests, fingerprint
from audit.build.emulated.build import EmulatedBuild, build
from audit.build.emulated.device import (
    MORE_ORDERS,
    ORDERS,
    EmulatedVariant,
    orders_of,
    plain_configuration,
    without_folders,
)
from audit.build.emulated.prepared import runtime
from audit.build.python.inline import InlineCuda
from audit.build.python.source import COMPILES_FILES, HEADER_SET, PythonSource, init_inputs, isolated, kept
from audit.build.settings import FILLS, LANE_FILLS, EmulatedPythonSettings
from audit.model import BuildNote, SourceFile, Variant
from audit.model.errors import Unsupported

ONLY_ON_A_GPU = {
    "torch.compile": "torch.compile, whose code generator is another one without a GPU",
    "torch.cuda.CUDAGraph": "CUDA graphs",
    "torch.cuda.graph": "CUDA graphs",
    "torch.cuda.make_graphed_callables": "CUDA graphs",
    "torch.cuda.Event": "CUDA events",
    "torch.cuda.Stream": "CUDA streams of its own",
    "torch.cuda.ExternalStream": "CUDA streams of its own",
    COMPILES_FILES: "an extension built from other files",
}
OTHER_COMPILERS = {
    "cuda.tile": "cuTile",
    "cupy": "CuPy",
    "cutlass": "CuTe DSL or CUTLASS",
    "helion": "Helion",
    "hip": "HIP",
    "max": "Mojo",
    "mojo": "Mojo",
    "numba": "Numba",
    "pycuda": "PyCUDA",
    "taichi": "Taichi",
    "tilelang": "TileLang",
    "triton.experimental.gluon": "Gluon",
    "tvm": "TVM",
    "warp": "Warp",
}
"""Modules of other kernel compilers."""
AS_IT_IS = "run as it is: nothing is compiled, so a second build is a second run"


def build_python(
    source: Path, variant: Variant, *, optimisation: str, limit_s: float, kernel_limit_s: float
) -> EmulatedVariant:
    """Parse the source and compile its CUDA texts, without running it. Emulated kernels alone have thread orders and
    checked accesses.

    Raises:
        CompileError: the source is not Python, or a CUDA text does not compile.
        Unsupported: it uses features of a GPU alone, or Triton where that is not installed.
    """
    started = time.monotonic()
    alone = isolated(source)
    parsed = PythonSource(text := alone.read_text(encoding="utf-8"))
    _refuse(parsed)
    refusals = {one.key: one.refusal for one in parsed.inline if one.refusal}
    libraries = {
        one.key: _compiled(one, source, variant, optimisation) for one in parsed.inline if one.key not in refusals
    }
    emulated, device = bool(libraries or parsed.triton_kernels), runtime()
    orders = orders_of([text]) if libraries else ORDERS
    exact = len(parsed.inline) == 1 and parsed.inline[0].unit[1]
    files = [one.library for one in libraries.values()]
    return EmulatedVariant(
        note=_note(variant, optimisation, list(libraries.values()), alone, seconds=time.monotonic() - started),
        limit_s=limit_s,
        checks_accesses=emulated,
        orders=orders if emulated else ORDERS[:1],
        more_orders=MORE_ORDERS if libraries else (),
        fills=tuple(FILLS) if libraries else (),
        lane_fills=LANE_FILLS if parsed.triton_kernels else (),
        lines=files[0] if files and exact else None,
        loaded=EmulatedPythonSettings(
            python=alone,
            init_inputs=list(init_inputs(source)),
            libraries={key: (one.library, one.header_set) for key, one in libraries.items()},
            refusals=refusals,
            exact_lines=exact,
            triton="triton" in parsed.imports,
            runtime=device,
            digests=digests(alone, device, *files),
            configuration=plain_configuration(variant, kernel_limit_s=kernel_limit_s),
        ),
    )


def _refuse(parsed: PythonSource) -> None:
    for name, call in parsed.calls:
        if name in ONLY_ON_A_GPU:
            raise Unsupported(ONLY_ON_A_GPU[name], line=call.lineno)
    for module, compiler in OTHER_COMPILERS.items():
        if line := next((one for name, one in parsed.modules if f"{name}.".startswith(f"{module}.")), None):
            raise Unsupported(f"kernels compiled by {compiler}, which makes code for a GPU alone", line=line)
    if parsed.triton_kernels and find_spec("triton") is None:
        raise Unsupported("Triton kernels where triton is not installed; install triton for its interpreter")


def _compiled(inline: InlineCuda, source: Path, variant: Variant, optimisation: str) -> EmulatedBuild:
    text, _ = inline.unit
    folder = cache_folder() / "inline" / fingerprint([text]) / source.stem
    unit = kept(folder, f"{source.stem}.cu", text.encode())
    card = variant.compute_capability
    return build(unit, optimisation=optimisation, compute_capability=card, flags=inline.macros)


def _note(
    variant: Variant, optimisation: str, libraries: list[EmulatedBuild], source: Path, *, seconds: float
) -> BuildNote:
    return BuildNote(
        variant=variant.name,
        optimisation=optimisation,
        outcome="built",
        header_set=HEADER_SET,
        compiler=libraries[0].compiler if libraries else None,
        flags=without_folders(libraries[0].flags) if libraries else (),
        seconds=round(seconds, 2),
        from_cache=all(library.from_cache for library in libraries),
        log="" if libraries else AS_IT_IS,
        reads=(SourceFile.of(source.name, source.read_bytes()),),
    )
