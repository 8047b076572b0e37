"""The devices there are, and which one `auto` means here."""

from __future__ import annotations

from audit.build.device import AuditDevice
from audit.build.emulated import EmulatedDevice
from audit.errors import BadInput

CHOICES = ("auto", "cuda", "emulated")


def choose(name: str) -> AuditDevice:
    """The device of that name; `auto` is the best this version can use.

    Raises:
        BadInput: the name is unknown, or this version has no support for it.
    """
    if name in ("auto", "emulated"):
        return EmulatedDevice()
    if name == "cuda":
        raise BadInput("--device cuda: this version audits on the emulated device only; use --device emulated")
    raise BadInput(f"--device {name}: unknown; known: {', '.join(CHOICES)}")
