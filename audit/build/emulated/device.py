"""The emulated device: variants compiled with g++ and run on the CPU, thread by thread; it gives no times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.build.device import BuiltVariant, Levels
from audit.build.emulated.build import EmulatedBuild, build, prepare
from audit.build.emulated.cache import digests
from audit.build.emulated.patterns import FILLS, FRESH_SHARED, NO_BLOCKS, POISON_NAN, POISON_NUMBER, QUICK, STALE
from audit.build.emulated.symbols import located
from audit.build.second_compiler import UNBOUND
from audit.build.settings import Configuration, EmulatedSettings, TensorDevice
from audit.model import BuildNote, Claim, Device, Shape, Variant
from audit.model.errors import CompileError
from audit.model.gpus import table

BINDING = re.compile(r"PYBIND11_MODULE|TORCH_LIBRARY|PyInit_|RegisterOperators")
"""The bindings by which Python finds a function in a library; comments count too."""
SEED = 20250220
"""Seed of the random thread and block orders; the inputs have seeds of their own."""
T4 = 75
ORDERS = ("forward", "reverse", "random")
STALE_ORDERS = (f"{STALE} all", f"{STALE} alternate")
"""Orders of sources that use volatile: forward, with reads that give old values where no fence rules it out."""
_VOLATILE = re.compile(r"(?<!asm )(?<!asm__ )\bvolatile\b|\.(?:volatile|relaxed|acquire)\b")
MORE_ORDERS = ("lockstep", "random 1", "random 2")
"""The number after an order is added to the seed."""


@dataclass(frozen=True)
class EmulatedVariant:
    """See `audit.build.device.BuiltVariant`."""

    library: EmulatedBuild
    variant: Variant
    optimisation: str
    limit_s: float
    kernel_limit_s: float
    orders: tuple[str, ...] = ORDERS
    more_orders: tuple[str, ...] = MORE_ORDERS
    fills: tuple[str, ...] = tuple(FILLS)
    nan_memory: str = "poison_nan"
    traced_memory: str = "poison_nan"
    tensor_device: TensorDevice = "cpu"
    checks_accesses: bool = True

    @property
    def note(self) -> BuildNote:
        """See `BuiltVariant`."""
        return BuildNote(
            variant=self.variant.name,
            optimisation=self.optimisation,
            outcome="built",
            header_set=self.library.header_set,
            compiler=self.library.compiler,
            flags=self._flags,
            seconds=round(self.library.seconds, 2),
            from_cache=self.library.from_cache,
            reads=self.library.reads,
        )

    @property
    def _flags(self) -> tuple[str, ...]:
        """The compiler's flags without folders; a pragma after the precompiled headers sets a level other than O2."""
        plain = tuple(flag for flag in self.library.flags if not flag.startswith(("-I", "-isystem")))
        plain = (*plain, f"__CUDA_ARCH__={self.variant.compute_capability}0")
        return plain if self.optimisation == "O2" else (*plain, f'#pragma GCC optimize("{self.optimisation}")')

    @property
    def poisons(self) -> dict[str, bytes]:
        """See `BuiltVariant`."""
        patterns = {"poison_nan": POISON_NAN, "poison_number": POISON_NUMBER}
        return {memory: pattern.to_bytes(4, "little") for memory, pattern in patterns.items()}

    def defines(self, kernel: str) -> bool:  # noqa: ARG002
        """See `BuiltVariant`. Always: operators of a library launch nothing on this device."""
        return True

    def settings(self, *, memory: str, order: str, check: bool, fill: str | None = None) -> EmulatedSettings:
        """See `BuiltVariant`."""
        configuration = Configuration(
            **in_order(order),
            shared_word=FRESH_SHARED if fill is None else FILLS[fill],
            lane_word=0 if fill is None else FILLS[fill],
            allocator=memory,
            checker=check,
            compute_capability=self.variant.compute_capability,
            kernel_seconds=self.kernel_limit_s,
        )
        return EmulatedSettings(
            library=self.library.library,
            header_set=self.library.header_set,
            runtime=self.library.runtime,
            digests=digests(self.library.library, self.library.runtime),
            configuration=configuration,
        )

    def located(self, reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """See `BuiltVariant`."""
        return located(reports, self.library.library)


def orders_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the orders in which a source of those texts is run."""
    uses = any(_VOLATILE.search(text) for text in texts)
    return (*ORDERS[:-1], *STALE_ORDERS, ORDERS[-1]) if uses else ORDERS


def in_order(order: str) -> dict[str, Any]:
    """Return the part of a configuration that sets one of `ORDERS`, `STALE_ORDERS` or `MORE_ORDERS`, or `QUICK`."""
    if order == NO_BLOCKS:
        return {**in_order("forward"), "blocks": 0}
    if order == QUICK:
        return {**in_order("forward"), "still_clock": True}
    name, _, number = order.partition(" ")
    if name == STALE:
        return {**in_order("forward"), "stale": number}
    blocks = "forward" if name == "lockstep" else name
    return {"thread_order": name, "block_order": blocks, "seed": SEED + int(number or 0)}


def capability_named(claim: Claim) -> int:
    """Return the compute capability of the oldest GPU whose numbers the claim states; that of a T4 if none is known."""
    known = table()
    named = {one.gpu for one in claim.speedup} | {one.gpu for one in claim.observation}
    return min((known[name].compute_capability for name in named & known.keys()), default=T4)


@dataclass(frozen=True)
class EmulatedDevice:
    """See `audit.build.device.AuditDevice`.

    It models a GPU of `compute_capability`, or of the one that a variant's claim file states. The limit of a session is
    `session_limit_s` (`processes.Deadline`), that of a kernel `kernel_limit_s` of processor time.
    """

    session_limit_s: float = 60.0
    kernel_limit_s: float = 20.0
    compute_capability: int = T4

    @property
    def levels(self) -> Levels:
        """See `AuditDevice`."""
        return Levels(first="O2", confirming="O0")

    def describe(self) -> Device:
        """See `AuditDevice`."""
        number = self.compute_capability
        rules = "a T4's launch rules" if number == T4 else f"the launch rules of compute capability {number / 10:.1f}"
        return Device(
            kind="emulated",
            name="emulated device (CPU)",
            compute_capability=number,
            note=f"runs the unmodified source thread by thread under {rules}; proves wrong values, gives no times",
        )

    def shapes(self, claim: Claim) -> tuple[Shape, ...]:
        """Return the claim's shapes for the emulated device."""
        return claim.shapes.emulated

    def prepare(self) -> None:
        """Make the precompiled headers and the runtime."""
        prepare()

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        """See `AuditDevice`."""
        if "compute_capability" not in variant.model_fields_set:
            variant = variant.model_copy(update={"compute_capability": self.compute_capability})
        if source.suffix == ".py":
            from audit.build.python.emulated import build_python  # it imports this module

            limits = {"limit_s": self.session_limit_s, "kernel_limit_s": self.kernel_limit_s}
            return build_python(source, variant, optimisation=optimisation, **limits)
        library = build(source, optimisation=optimisation, compute_capability=variant.compute_capability)
        read = (source.parent / one.file for one in library.reads)
        texts = [one.read_text(encoding="utf-8", errors="replace") for one in read]
        if not any(BINDING.search(text) for text in texts):
            raise CompileError(UNBOUND, header_set=library.header_set)
        return EmulatedVariant(
            library=library,
            variant=variant,
            optimisation=optimisation,
            orders=orders_of(texts),
            limit_s=self.session_limit_s,
            kernel_limit_s=self.kernel_limit_s,
        )
