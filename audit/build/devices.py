"""Choose the devices of an audit."""

from __future__ import annotations

import shutil

from audit.build.cuda import toolchain
from audit.build.device import AuditDevice
from audit.model import Claim
from audit.model.errors import BadInput

CHOICES = ("auto", "cuda", "emulated")


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
