"""The interfaces of a device and of a variant built for it, and the choice of the devices of an audit."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from audit.build.cuda import toolchain
from audit.build.settings import POISONS, DeviceSettings, TensorDevice
from audit.model import BuildNote, Claim, Device, Shape, Variant
from audit.model.errors import BadInput

CHOICES = ("auto", "cuda", "emulated")


@dataclass(frozen=True, kw_only=True)
class BuiltVariant:
    """A variant compiled for a device.

    Attributes:
        note: the compilation, for the record.
        limit_s: the limit of a session in seconds, see `processes.Deadline`.
        tensor_device: the device type an output tensor must have.
        nan_memory: the memory mode in which fresh memory holds NaN.
        traced_memory: the memory mode in which a session lists the kernels of every call.
        checks_accesses: whether sessions can check every memory access.
        orders: the orders of threads and blocks in which every variant is run.
        more_orders: further orders, for a result that may depend on one.
        fills: values to put into fresh shared memory and inactive lanes; empty where that is impossible.
        lane_fills: values to put into masked elements of Triton's loads without `other`, see `undefined.OPEN`.
        poisons: memory modes that fill fresh memory with a pattern, and the pattern.
    """

    note: BuildNote
    limit_s: float
    tensor_device: TensorDevice
    nan_memory: str
    traced_memory: str
    checks_accesses: bool
    orders: tuple[str, ...]
    more_orders: tuple[str, ...] = ()
    fills: tuple[str, ...] = ()
    lane_fills: tuple[str, ...] = ()
    poisons: ClassVar[dict[str, bytes]] = POISONS

    def defines(self, kernel: str) -> bool:  # noqa: ARG002
        """Return whether the kernel of that device name was compiled from the source."""
        return True

    def settings(self, *, memory: str, order: str, check: bool, fill: str | None = None) -> DeviceSettings:
        """Return the settings of a session. Without a fill, fresh shared memory holds NaN and inactive lanes give zero,
        as on most GPUs."""
        raise NotImplementedError

    def located(self, reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return reports of the device with an unknown `line` filled in from debug information, if there is any."""
        return [*reports]


@dataclass(frozen=True)
class Levels:
    """The ways a device builds a variant.

    Attributes:
        first: the level of every variant.
        confirming: the level at which a proved failure must show too, built on demand; None on real hardware.
        published: the second level of the claimed kernel, which is probed again and timed, and the level of a variant
            that the first one cannot take. None where there is only one.
        oldest: code for a variant's least compute capability, which this device runs too; None on the emulated device.
    """

    first: str
    confirming: str | None = None
    published: str | None = None
    oldest: str | None = None


class AuditDevice(Protocol):
    """A device that variants are built for and run on."""

    @property
    def levels(self) -> Levels:
        """The device's levels."""

    def describe(self) -> Device:
        """Return the device for the record."""

    def shapes(self, claim: Claim) -> tuple[Shape, ...]:
        """Return the shapes of the claim that this device can run in reasonable time."""

    def prepare(self) -> None:
        """Build the files that all variants share, ahead of the first build."""

    def build(self, source: Path, variant: Variant, *, optimisation: str) -> BuiltVariant:
        """Compile one variant at one of the levels. Raises CompileError or Unsupported."""


def choose(name: str, claim: Claim) -> AuditDevice:
    """Return the device of that name for that claim; `auto` is a GPU if this machine can build for it and run it.
    Raises BadInput: the name is unknown, or the device cannot be used here; says what to install."""
    if name not in CHOICES:
        raise BadInput(f"--device {name}: unknown; known: {', '.join(CHOICES)}")
    if name == "cuda" or (name == "auto" and toolchain.missing() is None):
        return _cuda(claim)
    return _emulated(claim)


def secondary_devices(device: AuditDevice, claim: Claim) -> tuple[AuditDevice, ...]:
    """Return the devices that add evidence to that one: the emulated device sees races and coverage a GPU hides."""
    if device.describe().kind == "cuda" and shutil.which("g++") is not None:
        return (_emulated(claim),)
    return ()


def _emulated(claim: Claim) -> AuditDevice:
    from audit.build.emulated.device import device_for  # needs no CUDA

    return device_for(claim)


def _cuda(claim: Claim) -> AuditDevice:
    from audit.build.cuda.device import CudaDevice

    return CudaDevice(claim)
