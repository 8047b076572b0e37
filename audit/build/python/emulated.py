"""A `.py` variant on the emulated device: torch on the CPU, Triton in its interpreter, CUDA texts emulated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from audit.build.emulated.build import EmulatedBuild, build
from audit.build.emulated.cache import cache_folder, digests, fingerprint, made
from audit.build.emulated.device import MORE_ORDERS, ORDERS, in_order, orders_of
from audit.build.emulated.patterns import FILLS, FRESH_SHARED, POISON_NAN, POISON_NUMBER
from audit.build.emulated.prepared import runtime
from audit.build.emulated.symbols import located
from audit.build.python.inline import InlineCuda
from audit.build.python.source import COMPILES_FILES, HEADER_SET, PythonSource, init_inputs, isolated
from audit.build.settings import Configuration, EmulatedPythonSettings, TensorDevice
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
PATTERNS = {"poison_nan": POISON_NAN, "poison_number": POISON_NUMBER}


@dataclass(frozen=True)
class EmulatedPython:
    """See `audit.build.device.BuiltVariant`. Emulated kernels alone have thread orders and checked accesses.

    `libraries` are the source's extensions by their key, `refusals` says why torch cannot build others; `exact_lines`
    is whether their lines are the source's.
    """

    note: BuildNote
    source: Path
    runtime: Path
    init_inputs: tuple[Any, ...]
    libraries: dict[str, EmulatedBuild]
    refusals: dict[str, str]
    exact_lines: bool
    uses_triton: bool
    triton_kernels: tuple[str, ...]
    compute_capability: int
    limit_s: float
    kernel_limit_s: float
    nan_memory: str = "poison_nan"
    traced_memory: str = "poison_nan"
    tensor_device: TensorDevice = "cpu"

    @property
    def orders(self) -> tuple[str, ...]:
        """See `BuiltVariant`."""
        every = orders_of([self.source.read_text(encoding="utf-8", errors="replace")]) if self.libraries else ORDERS
        return every if self.checks_accesses else ORDERS[:1]

    @property
    def more_orders(self) -> tuple[str, ...]:
        """See `BuiltVariant`."""
        return MORE_ORDERS if self.libraries else ()

    @property
    def fills(self) -> tuple[str, ...]:
        """See `BuiltVariant`."""
        return tuple(FILLS) if self.libraries else ()

    @property
    def checks_accesses(self) -> bool:
        """See `BuiltVariant`."""
        return bool(self.libraries or self.triton_kernels)

    @property
    def poisons(self) -> dict[str, bytes]:
        """See `BuiltVariant`."""
        return {memory: pattern.to_bytes(4, "little") for memory, pattern in PATTERNS.items()}

    def defines(self, kernel: str) -> bool:  # noqa: ARG002
        """See `BuiltVariant`. Always: operators of a library launch nothing on this device."""
        return True

    def settings(self, *, memory: str, order: str, check: bool, fill: str | None = None) -> EmulatedPythonSettings:
        """See `BuiltVariant`."""
        configuration = Configuration(
            **in_order(order),
            shared_word=FRESH_SHARED if fill is None else FILLS[fill],
            lane_word=0 if fill is None else FILLS[fill],
            allocator=memory,
            checker=check,
            compute_capability=self.compute_capability,
            kernel_seconds=self.kernel_limit_s,
        )
        return EmulatedPythonSettings(
            python=self.source,
            init_inputs=list(self.init_inputs),
            libraries={key: (one.library, one.header_set) for key, one in self.libraries.items()},
            refusals=self.refusals,
            exact_lines=self.exact_lines,
            triton=self.uses_triton,
            runtime=self.runtime,
            digests=digests(self.source, self.runtime, *(one.library for one in self.libraries.values())),
            configuration=configuration,
        )

    def located(self, reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """See `BuiltVariant`. Unchanged for several extensions: an offset alone does not identify one."""
        exact = [one.library for one in self.libraries.values()] if self.exact_lines else []
        return located(reports, exact[0]) if exact else [*reports]


def build_python(
    source: Path, variant: Variant, *, optimisation: str, limit_s: float, kernel_limit_s: float
) -> EmulatedPython:
    """Parse the source and compile its CUDA texts, without running it.

    Raises:
        CompileError: the source is not Python, or a CUDA text does not compile.
        Unsupported: it uses features of a GPU alone, or Triton where that is not installed.
    """
    started = time.monotonic()
    alone = isolated(source)
    parsed = PythonSource(alone.read_text(encoding="utf-8"))
    _refuse(parsed)
    refusals = {one.key: one.refusal for one in parsed.inline if one.refusal}
    libraries = {
        one.key: _compiled(one, source, variant, optimisation) for one in parsed.inline if one.key not in refusals
    }
    return EmulatedPython(
        note=_note(variant, optimisation, list(libraries.values()), alone, seconds=time.monotonic() - started),
        source=alone,
        runtime=runtime(lambda _: None),
        init_inputs=init_inputs(source),
        libraries=libraries,
        refusals=refusals,
        exact_lines=len(parsed.inline) == 1 and parsed.inline[0].unit[1],
        uses_triton="triton" in parsed.imports,
        triton_kernels=parsed.triton_kernels,
        compute_capability=variant.compute_capability,
        limit_s=limit_s,
        kernel_limit_s=kernel_limit_s,
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
    folder = cache_folder() / "inline" / fingerprint([text])
    name = f"{source.stem}.cu"
    made(folder / source.stem, lambda unfinished: _write(unfinished / name, text))
    return build(folder / source.stem / name, optimisation=optimisation, compute_capability=variant.compute_capability)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _note(
    variant: Variant, optimisation: str, libraries: list[EmulatedBuild], source: Path, *, seconds: float
) -> BuildNote:
    flags = libraries[0].flags if libraries else ()
    return BuildNote(
        variant=variant.name,
        optimisation=optimisation,
        outcome="built",
        header_set=HEADER_SET,
        compiler=libraries[0].compiler if libraries else None,
        flags=tuple(flag for flag in flags if not flag.startswith(("-I", "-isystem"))),
        seconds=round(seconds, 2),
        from_cache=all(library.from_cache for library in libraries),
        log="" if libraries else AS_IT_IS,
        reads=(SourceFile.of(source.name, source.read_bytes()),),
    )
