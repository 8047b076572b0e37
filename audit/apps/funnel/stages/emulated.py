"""Every probe on the emulated device. Settles what a probe proves twice, at two optimisation levels."""

from __future__ import annotations

import io

from audit.apps.funnel.collection import Item
from audit.apps.funnel.stage import Setting, Stage, claimed_of
from audit.apps.funnel.state import Passage
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Verdict
from audit.report.progress import Progress

SESSION_LIMIT_S, KERNEL_LIMIT_S = 30.0, 10.0
SETTLE = ("wrong", "cannot be built", "undefined", "vacuous", "reduced precision", "overstated", "mistimed")
"""Verdicts that hold whatever a GPU would say: each rests on proof."""


def ask(item: Item, setting: Setting) -> Passage:
    """Builds the claimed kernel, asks every probe, and judges the record, which stays for `audit report`."""
    folder = claimed_of(item)
    device = EmulatedDevice(session_limit_s=SESSION_LIMIT_S, kernel_limit_s=KERNEL_LIMIT_S)
    out = setting.records / item.key / "emulated"
    silent = Progress(io.StringIO())
    with Audit(folder, device, out, entropy=setting.seed, workers=setting.workers(), progress=silent) as audit:
        for stage in (audit.prepare, audit.build, audit.verify, audit.judge):
            stage()
        return passage(audit.record.verdict)


def passage(verdict: Verdict) -> Passage:
    """Settled by a verdict that rests on proof; a right kernel is passed on, since its time is missing."""
    if verdict.name in SETTLE:
        return Passage(stage="emulated", outcome="settled", verdict=verdict.name, reasons=verdict.reasons)
    if verdict.name == "no defect found":
        text = "every probe passed on the emulated device; a GPU must time it"
        return Passage(stage="emulated", outcome="passed on", reasons=(text,))
    return Passage(stage="emulated", outcome="no answer", reasons=verdict.missing)


STAGE = Stage(
    "emulated",
    "Emulated probes",
    "builds the claimed kernel for the emulated device and asks every probe: beside a build of two seconds they cost "
    "half a second together. Settles what a probe proves in two builds, and tasks that cannot tell right from wrong; "
    "has no answer where something does not build here alone",
    ask,
    at_once=2,
)
