"""A real GPU: variants compiled by torch's extension builder as published, run and timed on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.build import cuda_extension, cuda_toolchain, gpu
from audit.build.cuda_compile import RUNG, checked_flags
from audit.build.cuda_extension import CudaBuild
from audit.build.cuda_sanitizer import working_sanitizer
from audit.emulator.cache import cache_folder
from audit.emulator.patterns import POISON_NAN, POISON_NUMBER
from audit.errors import Unsupported
from audit.model import BuildNote, Claim, Device, Shape, Variant

SESSION_LIMIT_S = 120.0
OUR_FLAGS = ("-O3",)
AS_PUBLISHED = ("claimed", "ablation", "thief")
"""Roles compiled with the claim's own flags, so that an ablation differs from the claim by its one change only."""
POISONS = {"poison_nan": POISON_NAN, "poison_number": POISON_NUMBER}
"""Memory modes that fill freed blocks of the output's size before a call, and the 4-byte pattern."""


@dataclass(frozen=True)
class CudaVariant:
    """See `audit.build.device.BuiltVariant`."""

    build: CudaBuild
    variant: Variant
    optimisation: str
    sanitizer: Path | None = None
    limit_s: float = SESSION_LIMIT_S
    orders: tuple[str, ...] = ("forward",)
    nan_memory: str = "filled_nan"
    traced_memory: str = "traced"
    tensor_device: str = "cuda"

    @property
    def note(self) -> BuildNote:
        """See `BuiltVariant`."""
        return BuildNote(
            variant=self.variant.name,
            optimisation=self.optimisation,
            outcome="built",
            header_set=RUNG,
            compiler=self.build.compiler,
            flags=self.build.flags,
            seconds=round(self.build.seconds, 2),
            from_cache=self.build.from_cache,
            log=self.build.note,
        )

    @property
    def poisons(self) -> dict[str, bytes]:
        """See `BuiltVariant`. The patterns of the emulated device, for any dtype of output."""
        return {name: pattern.to_bytes(4, "little") for name, pattern in POISONS.items()}

    @property
    def checks_accesses(self) -> bool:
        """See `BuiltVariant`. Where the toolkit has a compute-sanitizer that works here."""
        return self.sanitizer is not None

    def session_request(self, *, memory: str, order: str, check: bool) -> dict[str, Any]:
        """See `BuiltVariant`. Threads run in the GPU's own order; a checked call runs under the checker."""
        if order not in self.orders:
            raise ValueError(f"a GPU has no thread order {order}; known: {', '.join(self.orders)}")
        return {
            "device": {
                "kind": "cuda_checked" if check else "cuda",
                "library": str(self.build.library),
                "module": self.build.module,
                "memory": memory,
                "pattern": POISONS.get(memory),
                "sanitizer": str(self.sanitizer),
            }
        }

    def located(self, report: dict[str, Any]) -> dict[str, Any]:
        """See `BuiltVariant`. The access checker names no offsets, so there is nothing to place."""
        return report


class CudaDevice:
    """See `audit.build.device.AuditDevice`.

    Args:
        claim: whose published flags count.
        cache: folder of finished builds; None is the user's own.

    Raises:
        BadInput: no GPU here, or nothing to build for it; says what to install.
    """

    optimisations: tuple[str, str | None] = ("published", None)

    def __init__(self, claim: Claim, *, cache: Path | None = None) -> None:
        self._claim = claim
        self._cache = cache or cache_folder()
        self._gpu = gpu.find()
        self._toolchain = cuda_toolchain.find(self._gpu)
        self._sanitizer: Path | None = None
        checked_flags(claim.protocol.flags)

    def describe(self) -> Device:
        """See `AuditDevice`."""
        versions = f"driver {self._gpu.driver}, {self._toolchain.nvcc}, torch {self._toolchain.torch}"
        return Device(
            kind="cuda",
            name=self._gpu.name,
            compute_capability=self._gpu.compute_capability,
            note=f"runs and times the source compiled as published; {versions}",
        )

    def shapes(self, claim: Claim) -> tuple[Shape, ...]:
        """The claimed shape and all others, smallest first as stated."""
        return (*claim.shapes.others, claim.shapes.claimed)

    def prepare(self) -> None:
        """Tries the access checker once; extensions share nothing that could be compiled beforehand."""
        self._sanitizer = working_sanitizer(self._toolchain)

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> CudaVariant:
        """See `AuditDevice`. The only level is "published"."""
        if optimisation not in self.optimisations:
            raise ValueError(f"a GPU build has no level {optimisation}; known: {self.optimisations[0]}")
        if variant.compute_capability > self._gpu.compute_capability:
            least = variant.compute_capability
            needs = f"{variant.file} needs compute capability {least // 10}.{least % 10}"
            raise Unsupported(f"{needs}; {self._gpu.name} has {self._gpu.arch}")
        flags = flags_of(variant, self._claim)
        built = cuda_extension.build(source, flags, gpu=self._gpu, toolchain=self._toolchain, cache=self._cache)
        return CudaVariant(build=built, variant=variant, optimisation=optimisation, sanitizer=self._sanitizer)


def flags_of(variant: Variant, claim: Claim) -> tuple[str, ...]:
    """What nvcc is given: the published flags for the claim, its ablations and the thief, ours for the rest."""
    return claim.protocol.flags if variant.role in AS_PUBLISHED else OUR_FLAGS
