"""What the later stages need of a device and of a variant built for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from audit.build.settings import DeviceSettings, TensorDevice
from audit.model import BuildNote, Claim, Device, Shape, Variant


class BuiltVariant(Protocol):
    """A variant compiled for a device, and how a session must load and treat it."""

    @property
    def note(self) -> BuildNote:
        """How it was compiled, for the record."""

    @property
    def limit_s(self) -> float:
        """Wall-clock seconds a session may take."""

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders of threads and blocks in which every variant is asked."""

    @property
    def more_orders(self) -> tuple[str, ...]:
        """Further orders, for a result that may depend on one."""

    @property
    def fills(self) -> tuple[str, ...]:
        """What fresh shared memory and lanes that take no part can be made to hold; empty where that is not ours."""

    @property
    def nan_memory(self) -> str:
        """The memory mode in which fresh memory holds NaN."""

    @property
    def poisons(self) -> dict[str, bytes]:
        """Memory modes that fill fresh memory with a pattern, and the pattern, repeated."""

    @property
    def traced_memory(self) -> str:
        """The memory mode in which a session lists the kernels of every call."""

    @property
    def tensor_device(self) -> TensorDevice:
        """The device type an output tensor must have."""

    @property
    def checks_accesses(self) -> bool:
        """Whether sessions can check every memory access."""

    def defines(self, kernel: str) -> bool:
        """Whether a kernel, as the device names it, was compiled from the source."""

    def settings(self, *, memory: str, order: str, check: bool, fill: str | None = None) -> DeviceSettings:
        """Return what a session must load and how the device behaves there. Without a fill, fresh shared memory holds a
        NaN and lanes that take no part give zero, as on most GPUs."""

    def located(self, reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Reports of the device with `line` filled in from debug information where it was unknown."""


@dataclass(frozen=True)
class Levels:
    """The ways a device builds a variant.

    Attributes:
        first: every variant is built so, and asked.
        confirming: a proved failure must show here too, in a build made when it is needed; None on real hardware.
        published: the claimed kernel is built so beside the first level, asked again and timed; so is what the first
            level cannot take. None where the first level is all there is.
        oldest: code for the least compute capability a variant names, which this device can run as well; None where
            code is not made for GPUs.
    """

    first: str
    confirming: str | None = None
    published: str | None = None
    oldest: str | None = None

    def checked(self, level: str) -> str:
        """The level. Raises ValueError if the device has no such level, listing those it has."""
        known = [name for name in (self.first, self.confirming, self.published, self.oldest) if name]
        if level not in known:
            raise ValueError(f"no such level: {level}; known: {', '.join(known)}")
        return level


class AuditDevice(Protocol):
    """A place where variants are built and run."""

    @property
    def levels(self) -> Levels:
        """The ways it builds."""

    def describe(self) -> Device:
        """What it is, for the record."""

    def shapes(self, claim: Claim) -> tuple[Shape, ...]:
        """The shapes of the claim this device can run in reasonable time."""

    def prepare(self) -> None:
        """Builds what all variants share, so that the first build does not wait for it."""

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        """Compiles one variant at one of its levels. Raises CompileError or Unsupported."""
