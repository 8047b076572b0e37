"""A real GPU: the fast build compiles variants; torch's extension builder also builds the claimed kernel."""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from audit.build.cache import digests
from audit.build.cuda import extension, fast, fast_toolchain, gpu, toolchain
from audit.build.cuda.compile import HEADER_SET, checked_flags
from audit.build.cuda.extension import CudaBuild
from audit.build.cuda.fast import FastBuild
from audit.build.cuda.fast_symbols import defined, plain_name
from audit.build.cuda.fast_toolchain import NotFast
from audit.build.cuda.toolchain import working_sanitizer
from audit.build.device import BuiltVariant, Levels
from audit.build.second_compiler import require_binding
from audit.build.settings import (
    FAST_MANIFEST,
    IMAGE,
    CheckedSettings,
    CudaLibrary,
    CudaPython,
    CudaPythonSettings,
    CudaSettings,
    TensorDevice,
)
from audit.model import BuildNote, Claim, Device, Shape, Variant
from audit.model.errors import CompileError, Unsupported

SESSION_LIMIT_S = 120.0
FAST, PUBLISHED, OLDEST = "fast", "published", "oldest GPU"
OUR_FLAGS = ("-O3",)
LINE_INFO = "-lineinfo"
"""The flag of a checked build, so that the checker reports lines; it changes no instruction."""
CHECKED = "memory_access"
"""The probe whose controls are checked in their fast build, their only one; a call takes a minute."""
AS_PUBLISHED = ("claimed", "base", "ablation", "no_op")
"""Roles compiled with the claim's own flags, so that an ablation or a base differs from it by its change alone."""
_ABSENT = re.compile(r"Instruction '(\w+)[^']*' not supported on \.target")
_NEEDS = {"wgmma": "compute capability 9.0 exactly (sm_90a)"}
"""What instructions need that a newer GPU does not have either."""


@dataclass(frozen=True, kw_only=True)
class CudaVariant(BuiltVariant):
    """See `BuiltVariant`. `loaded` is the code for `audit.run.devices.cuda.entry_of`, `sanitizer` a checker that works
    here."""

    loaded: CudaLibrary | CudaPython
    sanitizer: Path | None = None
    checks_accesses: bool = False
    limit_s: float = SESSION_LIMIT_S
    orders: tuple[str, ...] = ("forward",)
    nan_memory: str = "filled_nan"
    traced_memory: str = "traced"
    tensor_device: TensorDevice = "cuda"

    @property
    def libraries(self) -> list[Path]:
        """The compiled libraries; of a `.py` those of its extensions."""
        if isinstance(self.loaded, CudaLibrary):
            return [self.loaded.library]
        folder, extensions = self.loaded.folder, self.loaded.extensions or {}
        return [folder / one[0] for one in extensions.values() if folder and isinstance(one, list)]

    def defines(self, kernel: str) -> bool:
        """See `BuiltVariant`. By the symbols of the libraries."""
        return any(plain_name(kernel) in defined(library) for library in self.libraries)

    def settings(
        self, *, memory: str, order: str, check: bool, fill: str | None = None
    ) -> CudaSettings | CudaPythonSettings | CheckedSettings:
        """See `BuiltVariant`. Threads run in the GPU's own order; a checked call runs under the checker."""
        if order not in self.orders:
            raise ValueError(f"a GPU has no thread order {order}; known: {', '.join(self.orders)}")
        if fill is not None:
            raise ValueError(f"fresh shared memory of a GPU is not filled by us: {fill}")
        pattern = int.from_bytes(self.poisons[memory], "little") if memory in self.poisons else None
        if isinstance(self.loaded, CudaPython):
            return CudaPythonSettings(**dict(self.loaded), memory=memory, pattern=pattern)
        if check and self.sanitizer is not None:  # only these sessions need the checker's network and files
            return CheckedSettings(**dict(self.loaded), sanitizer=self.sanitizer)
        return CudaSettings(**dict(self.loaded), memory=memory, pattern=pattern)


class CudaDevice:
    """See `audit.build.device.AuditDevice`. The claim has the published flags. Raises BadInput if there is no GPU here,
    or no compiler for it; says what to install."""

    levels = Levels(first=FAST, published=PUBLISHED, oldest=OLDEST)

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._gpu = gpu.find()
        self._toolchain = toolchain.find(self._gpu)
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._sanitizer: Future[Path | None] | None = None
        self._headers: Future[None] | None = None
        self._lock = threading.Lock()
        checked_flags(claim.protocol.flags)
        if any(one.role == "base" for one in claim.variant):  # both are timed in one session: one kind of build
            self.levels = Levels(first=PUBLISHED, oldest=OLDEST)

    def describe(self) -> Device:
        """See `AuditDevice`."""
        versions = f"driver {self._gpu.driver}, {self._toolchain.nvcc}, torch {self._toolchain.torch}"
        return Device(
            kind="cuda",
            name=self._gpu.name,
            compute_capability=self._gpu.compute_capability,
            note=f"times the claimed source compiled as published; {versions}",
        )

    def shapes(self, claim: Claim) -> tuple[Shape, ...]:
        """Return all shapes, smallest first as stated, the claimed one last."""
        return (*claim.shapes.others, claim.shapes.claimed)

    def prepare(self) -> None:
        """See `AuditDevice`. In the background, without delay for the claimed kernel: compile the shared headers of all
        other fast builds, and try the access checker."""
        self._headers = self._pool.submit(self._share_headers)
        self._checker()

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> CudaVariant:
        """See `AuditDevice`. Levels: "fast" (g++ and NVRTC) and "published" (torch's extension builder)."""
        made = {FAST: self._fast, PUBLISHED: self._published, OLDEST: self._oldest}
        if optimisation not in made:
            raise ValueError(f"no such level: {optimisation}; known: {', '.join(made)}")
        if variant.compute_capability > self._gpu.compute_capability:
            least = variant.compute_capability
            needs = f"{variant.file} needs compute capability {least // 10}.{least % 10}"
            raise Unsupported(f"{needs}; {self._gpu.name} has {self._gpu.version}")
        if source.suffix == ".py":
            if optimisation == self.levels.oldest:
                raise Unsupported("Python, which is compiled for the GPU at hand")
            return self._python(source, variant, optimisation)
        require_binding([fast.joined(source)[0]], header_set=optimisation)
        return made[optimisation](source, variant, flags_of(variant, self._claim))

    def _fast(self, source: Path, variant: Variant, flags: tuple[str, ...]) -> CudaVariant:
        return self._quick(source, variant, FAST, flags=flags, card=self._gpu.compute_capability)

    def _oldest(self, source: Path, variant: Variant, flags: tuple[str, ...]) -> CudaVariant:
        card = variant.compute_capability
        if card == self._gpu.compute_capability:
            raise Unsupported(f"{variant.file} is for GPUs like {self._gpu.name} and newer: there is no older code")
        return self._quick(source, variant, OLDEST, flags=flags, card=card, portable=True)

    def _quick(
        self, source: Path, variant: Variant, level: str, *, flags: tuple[str, ...], card: int, portable: bool = False
    ) -> CudaVariant:
        if self._headers is not None and variant.role != "claimed":
            self._headers.result()  # compilers that all read torch's headers would compete for the cores
        checker = self._checker().result() if level == FAST and variant.probe == CHECKED else None
        flags = flags if checker is None else _with_lines(flags)
        built = fast.build(source, flags=flags, compute_capability=card, portable=portable)
        if built.left_out and self._claim.dtype != "float32":
            raise NotFast(f"kernels over torch's own types ({built.left_out[0]})")
        note = _note(variant, level, built, header_set=FAST, log="")
        loaded = CudaLibrary(library=built.library, module="", binding=built.binding, digests=fast_digests(built))
        return CudaVariant(note=note, loaded=loaded, sanitizer=checker, checks_accesses=checker is not None)

    def _published(self, source: Path, variant: Variant, flags: tuple[str, ...]) -> CudaVariant:
        card, tools = self._gpu, self._toolchain
        try:
            built = extension.build(source, _with_lines(flags), gpu=card, toolchain=tools)
        except CompileError as error:
            if not (absent := _ABSENT.findall(error.log)):
                raise
            needs = next((_NEEDS[name] for name in absent if name in _NEEDS), f"a GPU with {absent[0]}")
            raise Unsupported(f"{variant.file} needs {needs}; {card.name} has {card.version}") from error
        note = _note(variant, PUBLISHED, built, header_set=HEADER_SET, log=built.note)
        loaded = CudaLibrary(library=built.library, module=built.module, digests=digests(built.library))
        checker = self._checker().result()
        return CudaVariant(note=note, loaded=loaded, sanitizer=checker, checks_accesses=checker is not None)

    def _checker(self) -> Future[Path | None]:
        with self._lock:
            if self._sanitizer is None:
                self._sanitizer = self._pool.submit(working_sanitizer, self._toolchain)
            return self._sanitizer

    def _python(self, source: Path, variant: Variant, level: str) -> CudaVariant:
        from audit.build.python.cuda import PythonBuilder  # it imports this module

        return PythonBuilder(self._gpu, self._toolchain).build(source, variant, self._claim, level=level)

    def _share_headers(self) -> None:
        with suppress(NotFast):  # every build that needs them reports it
            fast_toolchain.prepare()


def fast_digests(built: FastBuild) -> dict[Path, str]:
    """Return the digests of the files that a session loads of a fast build."""
    return digests(built.library, built.binding, *(built.library.with_name(name) for name in (FAST_MANIFEST, IMAGE)))


def flags_of(variant: Variant, claim: Claim) -> tuple[str, ...]:
    """Return the flags for nvcc: the published ones for roles AS_PUBLISHED, else ours with the text's own."""
    return claim.protocol.flags if variant.role in AS_PUBLISHED else (*OUR_FLAGS, *claim.protocol.of_the_text)


def _with_lines(flags: tuple[str, ...]) -> tuple[str, ...]:
    return flags if LINE_INFO in flags else (*flags, LINE_INFO)


def _note(variant: Variant, level: str, built: CudaBuild | FastBuild, *, header_set: str, log: str) -> BuildNote:
    return BuildNote(
        variant=variant.name,
        optimisation=level,
        outcome="built",
        header_set=header_set,
        compiler=built.compiler,
        flags=built.flags,
        seconds=round(built.seconds, 2),
        from_cache=built.from_cache,
        log=log,
        reads=built.reads,
    )
