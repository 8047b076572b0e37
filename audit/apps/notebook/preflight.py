"""The preflight card: what this machine has, and what that means for the claim at hand."""

from __future__ import annotations

import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path

from audit import claims
from audit.apps import doctor
from audit.apps.doctor import Check
from audit.apps.notebook.claim import ClaimForm
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.shown import Markdown, table
from audit.build.cuda import gpu
from audit.build.cuda.gpu import Gpu, GpuState
from audit.claims import ClaimFolder
from audit.model.errors import BadInput
from audit.model.gpus import names_in

GPU = "GPU"
MARKS = {"ok": "✓", "--": "⚠", "!!": "✗"}
LEAST_FREE_BYTES = 2 << 30
"""Space for builds of every variant with torch's headers, and some to spare."""
TENSOR_CORES_OF_TRITON = 80
"""Triton's README: compute capability 8.0 and up; below, `tl.dot` is plain multiply-adds."""


def preflight(form: AuditForm) -> Markdown:
    """The card: ✓ there, ⚠ absent and the audit goes on without, ✗ no audit without it."""
    folder = claims.load(form.claim) if isinstance(form, ClaimForm) else None
    found = gpu_here()
    own = card(found, gpu.state() if found else None, folder, free_bytes=shutil.disk_usage(Path.cwd()).free)
    checks = [*own, *(check for check in doctor.examine() if check.name != GPU)]
    rows = ((MARKS[check.mark], check.name, check.found, check.advice) for check in checks)
    return table(("", "Looked at", "Found", "What it means here"), rows)


def gpu_here() -> Gpu | None:
    """The GPU that an audit takes here; None without one."""
    with suppress(BadInput):
        return gpu.find()
    return None


def card(found: Gpu | None, state: GpuState | None, folder: ClaimFolder | None, *, free_bytes: int) -> list[Check]:
    """The lines that depend on the machine, its GPU and the state of that, and on the claim together."""
    where = os.environ.get("COLAB_RELEASE_TAG", "not Colab")
    return [
        _device(found, folder),
        _clocks(state),
        *_triton(found, folder),
        _disk(free_bytes),
        Check("runtime", "ok", f"{where}, Python {platform.python_version()}"),
    ]


def _device(own: Gpu | None, folder: ClaimFolder | None) -> Check:
    if own is None:
        return Check(GPU, "--", "none", "correctness is answered on the emulated device; times read NOT MEASURED")
    found = f"{own.name}, compute capability {own.version}, driver {own.driver}"
    if folder is None:
        return Check(GPU, "ok", found, "times taken here speak for this GPU alone")
    too_new = [one.file for one in folder.claim.variant if one.compute_capability > own.compute_capability]
    named = {one.gpu for one in folder.claim.speedup} & names_in(own.name)
    speaks = (
        "a GPU the claim names" if named else "the claim publishes no ratio for this GPU: times here decide no claim"
    )
    left = f"; not built here, too new for it: {', '.join(too_new)}" if too_new else ""
    return Check(GPU, "ok" if named and not too_new else "--", found, speaks + left)


def _clocks(state: GpuState | None) -> Check:
    if state is None or state.sm_mhz is None or state.memory_mhz is None:
        return Check("clocks", "--", "not told", "")
    advice = "not locked in a shared runtime; the audit records them around every block of timings"
    return Check("clocks", "ok", f"SM {state.sm_mhz:.0f} MHz, memory {state.memory_mhz:.0f} MHz", advice)


def _triton(own: Gpu | None, folder: ClaimFolder | None) -> list[Check]:
    """A check of Triton on this GPU against newer ones; none for a claim without Triton code."""
    if folder is None or not any(one.file.endswith(".py") for one in folder.claim.variant):
        return []
    if own is None:
        return [Check("Triton", "ok", "its interpreter", "right or wrong is answered; no times without a GPU")]
    old = own.compute_capability < TENSOR_CORES_OF_TRITON
    advice = "tl.dot runs without tensor cores: times here say nothing about newer GPUs" if old else ""
    return [Check("Triton", "--" if old else "ok", f"compute capability {own.version}", advice)]


def _disk(free_bytes: int) -> Check:
    enough = free_bytes >= LEAST_FREE_BYTES
    advice = "" if enough else "builds may fail for want of room"
    return Check("disk", "ok" if enough else "--", f"{free_bytes / (1 << 30):.1f} GiB free", advice)
