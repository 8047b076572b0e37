"""The devices there are, and which one `auto` means here."""

from __future__ import annotations

import shutil

from audit.build.cuda import toolchain
from audit.build.device import AuditDevice
from audit.model import Claim
from audit.model.errors import BadInput

CHOICES = ("auto", "cuda", "emulated")


def choose(name: str, claim: Claim) -> AuditDevice:
    """The device of that name for that claim; `auto` is a GPU if one can be built for and run here.

    Raises:
        BadInput: the name is unknown, or the device cannot be used here; says what to install.
    """
    if name not in CHOICES:
        raise BadInput(f"--device {name}: unknown; known: {', '.join(CHOICES)}")
    if name == "cuda" or (name == "auto" and toolchain.missing() is None):
        return _cuda(claim)
    return _emulated(claim)


def beside(device: AuditDevice, claim: Claim) -> tuple[AuditDevice, ...]:
    """Devices that can give evidence beside that one: the emulated device sees races and coverage a GPU hides."""
    if device.describe().kind == "cuda" and shutil.which("g++") is not None:
        return (_emulated(claim),)
    return ()


def _emulated(claim: Claim) -> AuditDevice:
    from audit.build.emulated.device import EmulatedDevice, capability_named  # needs nothing of CUDA's

    return EmulatedDevice(compute_capability=capability_named(claim))


def _cuda(claim: Claim) -> AuditDevice:
    from audit.build.cuda.device import CudaDevice

    return CudaDevice(claim)
