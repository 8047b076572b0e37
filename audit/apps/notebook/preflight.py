"""The preflight card: what this machine has, and what that means for the claim at hand."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from audit import claims
from audit.apps import doctor
from audit.apps.doctor import Check
from audit.apps.notebook.claim import ClaimForm
from audit.apps.notebook.form import AuditForm, Markdown, table
from audit.claims import ClaimFolder
from audit.model.gpus import names_in

GPU = "GPU"
MARKS = {"ok": "✓", "--": "⚠", "!!": "✗"}
LEAST_FREE_BYTES = 2 << 30
"""Space for builds of every variant with torch's headers, and some to spare."""
TENSOR_CORES_OF_TRITON = 80
"""Triton's README: compute capability 8.0 and up; below, `tl.dot` is plain multiply-adds."""
QUERY = "name,driver_version,compute_cap,clocks.sm,clocks.mem,clocks.max.sm"


@dataclass(frozen=True)
class Gpu:
    """The first GPU as nvidia-smi names it; clocks in MHz at this moment, `compute_capability` is 75 for 7.5."""

    name: str
    driver: str
    compute_capability: int
    clocks: str


@dataclass(frozen=True)
class Machine:
    """Facts about this machine; None without a GPU."""

    gpu: Gpu | None
    free_bytes: int
    runtime: str


def preflight(form: AuditForm) -> Markdown:
    """The card: ✓ there, ⚠ absent and the audit goes on without, ✗ no audit without it."""
    folder = claims.load(form.claim) if isinstance(form, ClaimForm) else None
    checks = [*card(look(), folder), *(check for check in doctor.examine() if check.name != GPU)]
    rows = ((MARKS[check.mark], check.name, check.found, check.advice) for check in checks)
    return table(("", "Looked at", "Found", "What it means here"), rows)


def look() -> Machine:
    """This machine, without loading torch."""
    return Machine(
        gpu=_gpu(doctor.first_line("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits")),
        free_bytes=shutil.disk_usage(Path.cwd()).free,
        runtime=os.environ.get("COLAB_RELEASE_TAG", "not Colab"),
    )


def card(machine: Machine, folder: ClaimFolder | None) -> list[Check]:
    """The lines that depend on the machine and the claim together."""
    return [
        _device(machine, folder),
        _clocks(machine),
        *_triton(machine, folder),
        _disk(machine),
        Check("runtime", "ok", f"{machine.runtime}, Python {platform.python_version()}"),
    ]


def _device(machine: Machine, folder: ClaimFolder | None) -> Check:
    if machine.gpu is None:
        return Check(GPU, "--", "none", "correctness is answered on the emulated device; times read NOT MEASURED")
    gpu, capability = machine.gpu, machine.gpu.compute_capability
    found = f"{gpu.name}, compute capability {capability / 10:.1f}, driver {gpu.driver}"
    if folder is None:
        return Check(GPU, "ok", found, "times taken here speak for this GPU alone")
    too_new = [one.file for one in folder.claim.variant if one.compute_capability > capability]
    named = {one.gpu for one in folder.claim.speedup} & names_in(gpu.name)
    speaks = (
        "a GPU the claim names" if named else "the claim publishes no ratio for this GPU: times here decide no claim"
    )
    left = f"; not built here, too new for it: {', '.join(too_new)}" if too_new else ""
    return Check(GPU, "ok" if named and not too_new else "--", found, speaks + left)


def _clocks(machine: Machine) -> Check:
    if machine.gpu is None:
        return Check("clocks", "--", "no GPU", "")
    advice = "not locked in a shared runtime; the audit records them around every block of timings"
    return Check("clocks", "ok", machine.gpu.clocks, advice)


def _triton(machine: Machine, folder: ClaimFolder | None) -> list[Check]:
    """A check of Triton on this GPU against newer ones; none for a claim without Triton code."""
    if folder is None or not any(one.file.endswith(".py") for one in folder.claim.variant):
        return []
    if machine.gpu is None:
        return [Check("Triton", "ok", "its interpreter", "right or wrong is answered; no times without a GPU")]
    old = machine.gpu.compute_capability < TENSOR_CORES_OF_TRITON
    found = f"compute capability {machine.gpu.compute_capability / 10:.1f}"
    advice = "tl.dot runs without tensor cores: times here say nothing about newer GPUs" if old else ""
    return [Check("Triton", "--" if old else "ok", found, advice)]


def _disk(machine: Machine) -> Check:
    enough = machine.free_bytes >= LEAST_FREE_BYTES
    advice = "" if enough else "builds may fail for want of room"
    return Check("disk", "ok" if enough else "--", f"{machine.free_bytes / (1 << 30):.1f} GiB free", advice)


def _gpu(answer: str | None) -> Gpu | None:
    if answer is None:
        return None
    fields = [field.strip() for field in answer.split(",")]
    name, driver, capability, sm, memory, most = fields
    clocks = f"SM {sm} of {most} MHz, memory {memory} MHz"
    known = re.fullmatch(r"(\d+)\.(\d)", capability)
    return Gpu(name, driver, int(known[1] + known[2]), clocks) if known else None
