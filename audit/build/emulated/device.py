"""The emulated device: variants compiled with g++ and run on the CPU, thread by thread; it gives no times."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.build.cache import digests
from audit.build.device import BuiltVariant, Levels
from audit.build.emulated.build import EmulatedBuild, build
from audit.build.emulated.prepared import prepare
from audit.build.second_compiler import require_binding
from audit.build.settings import (
    FILLS,
    NO_BLOCKS,
    QUICK,
    STALE,
    TUNED,
    Configuration,
    EmulatedPythonSettings,
    EmulatedSettings,
    TensorDevice,
)
from audit.model import BuildNote, Claim, Device, Shape, Variant
from audit.model.gpus import table
from audit.model.run_directory import Scratch
from audit.sandbox import command

SEED = 20250220
"""Seed of the random thread and block orders; the inputs have seeds of their own."""
T4 = 75
ORDERS = ("forward", "reverse", "random")
STALE_ORDERS = (f"{STALE} all", f"{STALE} alternate")
"""Orders of sources that use volatile: forward, with reads that give old values where no fence rules it out."""
_VOLATILE = re.compile(r"(?<!asm )(?<!asm__ )\bvolatile\b|\.(?:volatile|relaxed|acquire)\b")
MORE_ORDERS = ("lockstep", "random 1", "random 2")
"""The number after an order is added to the seed."""
_LINE = re.compile(r"^(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_SOURCE_SUFFIXES = (".cu", ".cuh")
_LIMIT_S = 60.0
SLOWER = 5.0
"""How much more processor time a build without optimisation may take; it is asked only what a failure rests on."""
_known: dict[tuple[Path, int], int | None] = {}
"""Lines by library, whose name depends on its contents, and offset: most sessions of an audit report the same ones."""


@dataclass(frozen=True, kw_only=True)
class EmulatedVariant(BuiltVariant):
    """See `BuiltVariant`. An operator of a library launches nothing on this device, so every kernel is the source's.

    `loaded` are settings with `plain_configuration`; `lines` is the library with the debug information of every report,
    None where an offset alone does not identify one.
    """

    loaded: EmulatedSettings | EmulatedPythonSettings
    lines: Path | None
    tensor_device: TensorDevice = "cpu"
    nan_memory: str = "poison_nan"
    traced_memory: str = "poison_nan"

    def settings(
        self, *, memory: str, order: str, check: bool, fill: str | None = None
    ) -> EmulatedSettings | EmulatedPythonSettings:
        """See `BuiltVariant`."""
        now = {**in_order(order), "allocator": memory, "checker": check}
        if fill is not None:
            name, _, line = fill.partition(" ")
            now |= {"shared_word": FILLS[name], "lane_word": FILLS[name], "lane_line": int(line or 0)}
            now |= {"hides_races": check}
        return self.loaded.model_copy(update={"configuration": self.loaded.configuration.model_copy(update=now)})

    def located(self, reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """See `BuiltVariant`."""
        return [*reports] if self.lines is None else located(reports, self.lines)


def orders_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the orders in which a source of those texts is run."""
    uses = any(_VOLATILE.search(text) for text in texts)
    return (*ORDERS[:-1], *STALE_ORDERS, ORDERS[-1]) if uses else ORDERS


def plain_configuration(variant: Variant, *, kernel_limit_s: float) -> Configuration:
    """Return the configuration of that variant in the order forward, with fresh shared memory of NaN."""
    card = variant.compute_capability
    return Configuration(**in_order("forward"), lane_word=0, compute_capability=card, kernel_seconds=kernel_limit_s)


def in_order(order: str) -> dict[str, Any]:
    """Return the part of a configuration that sets one of `ORDERS`, `STALE_ORDERS` or `MORE_ORDERS`, or `QUICK`."""
    if order == NO_BLOCKS:
        return {**in_order(QUICK), "blocks": 0}
    if order == QUICK:
        return {**in_order("forward"), "still_clock": True}
    name, _, number = order.partition(" ")
    if name == TUNED:
        return {**in_order("forward"), "tuned": int(number)}
    if name == STALE:
        return {**in_order("forward"), "stale": number}
    blocks = "forward" if name == "lockstep" else name
    return {"thread_order": name, "block_order": blocks, "seed": SEED + int(number or 0)}


def capability_named(claim: Claim) -> int:
    """Return the compute capability of the oldest GPU that the claim names; that of a T4 if none is known."""
    known = table()
    named = {*claim.gpus, *(one.gpu for one in claim.speedup)} | {one.gpu for one in claim.observation}
    return min((known[name].compute_capability for name in named & known.keys()), default=T4)


@dataclass(frozen=True)
class EmulatedDevice:
    """See `audit.build.device.AuditDevice`.

    It models a GPU of `compute_capability`, or of the one that a variant's claim file states. The limit of a session is
    `session_limit_s` (`processes.Deadline`), that of a kernel `kernel_limit_s` of processor time; a build that confirms
    a failure has `SLOWER` times as much. `flags` are the claim's macros and include folders.
    """

    session_limit_s: float = 60.0
    kernel_limit_s: float = 20.0
    compute_capability: int = T4
    flags: tuple[str, ...] = ()

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
            note=f"runs the unmodified source under {rules}, CUDA thread by thread, Triton program by program; "
            "proves wrong values, gives no times",
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
        patience = SLOWER if optimisation == self.levels.confirming else 1.0
        limits = {"limit_s": patience * self.session_limit_s, "kernel_limit_s": patience * self.kernel_limit_s}
        if source.suffix == ".py":
            from audit.build.python.emulated import build_python  # it imports this module

            return build_python(source, variant, optimisation=optimisation, **limits)
        card, flags = variant.compute_capability, self.flags
        made = build(source, optimisation=optimisation, compute_capability=card, flags=flags)
        read = (source.parent / one.file for one in made.reads)
        texts = [one.read_text(encoding="utf-8", errors="replace") for one in read]
        require_binding(texts, header_set=made.header_set)
        return EmulatedVariant(
            note=_note(made, variant, optimisation, flags),
            limit_s=limits["limit_s"],
            checks_accesses=True,
            orders=orders_of(texts),
            more_orders=MORE_ORDERS,
            fills=tuple(FILLS),
            lines=made.library,
            loaded=EmulatedSettings(
                library=made.library,
                header_set=made.header_set,
                runtime=made.runtime,
                digests=digests(made.library, made.runtime),
                configuration=plain_configuration(variant, kernel_limit_s=limits["kernel_limit_s"]),
            ),
        )


def device_for(claim: Claim, **limits: float) -> EmulatedDevice:
    """Return the device for a claim, with other limits if they are given by name."""
    device = EmulatedDevice(compute_capability=capability_named(claim), flags=claim.protocol.of_the_text)
    return replace(device, **limits)  # type: ignore[arg-type]


def _note(made: EmulatedBuild, variant: Variant, optimisation: str, given: tuple[str, ...]) -> BuildNote:
    """Return the note with the compiler's flags, without folders; a pragma sets a level other than O2."""
    flags = [*without_folders(made.flags), *given, f"__CUDA_ARCH__={variant.compute_capability}0"]
    flags += [] if optimisation == "O2" else [f'#pragma GCC optimize("{optimisation}")']
    return BuildNote(
        variant=variant.name,
        optimisation=optimisation,
        outcome="built",
        header_set=made.header_set,
        compiler=made.compiler,
        flags=tuple(flags),
        seconds=round(made.seconds, 2),
        from_cache=made.from_cache,
        reads=made.reads,
    )


def without_folders(flags: Iterable[str]) -> tuple[str, ...]:
    """Return a compiler's flags for a record, which has no folders of a machine."""
    return tuple(flag for flag in flags if not flag.startswith(("-I", "-isystem")))


def located(reports: Sequence[dict[str, Any]], library: Path) -> list[dict[str, Any]]:
    """Return reports of the emulated device with an unknown `line` filled in from debug information."""
    asked = {one["library_offset"] for one in reports if one["line"] is None} - {None}
    new = sorted(offset for offset in asked if (library, offset) not in _known)
    _known.update(((library, offset), line) for offset, line in zip(new, resolve(library, new), strict=True))
    return [
        {**one, "line": _known.get((library, one["library_offset"])) if one["line"] is None else one["line"]}
        for one in reports
    ]


def resolve(library: Path, offsets: Sequence[int]) -> list[int | None]:
    """Return the line of the .cu file for each offset; None where unknown. An instruction inlined from one of our
    headers counts for the line of its caller. The library is untrusted: its reader runs in the sandbox."""
    tool = shutil.which("addr2line")
    if tool is None or not offsets:
        return [None] * len(offsets)
    words = [tool, "-e", str(library), "-i", "-a", *(hex(offset) for offset in offsets)]
    with Scratch() as folder:
        done = command.run(words, folder=folder, limit_s=_LIMIT_S, reads=[library.parent])
    chains: list[list[str]] = []
    for line in done.out.splitlines():
        if line.startswith("0x"):
            chains.append([])
        elif chains:
            chains[-1].append(line)
    found = [_source_line(chain) for chain in chains]
    return found if len(found) == len(offsets) else [None] * len(offsets)


def _source_line(chain: list[str]) -> int | None:
    for each in chain:
        match = _LINE.match(each)
        if match and match["file"].endswith(_SOURCE_SUFFIXES) and int(match["line"]) > 0:
            return int(match["line"])
    return None
