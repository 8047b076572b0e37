"""The reference of every claim stands every probe: else a defect of its kernels would go undecided.

That of a folder of controls is asked in the self-test, where it must stand the probe that a control is made for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.cache import digests
from audit.build.emulated.device import MORE_ORDERS, ORDERS, EmulatedDevice, EmulatedVariant, plain_configuration
from audit.build.emulated.prepared import runtime
from audit.build.settings import FILLS, EmulatedSettings
from audit.claims import ClaimFolder
from audit.device_run import DeviceRun
from audit.model import BuildNote, Variant
from audit.probes import PROBES
from audit.probes.observing import runner
from audit.probes.observing.target import Target
from audit.run.processes.pool import Workers
from tests.conftest import finding, some

pytestmark = pytest.mark.audits

FOLDERS = sorted(
    path.parent for path in claims.KERNELS.glob(f"*/{claims.STATEMENT}") if not path.parent.name.startswith("controls")
)
UNANSWERED = {
    "current_stream": "not supported on this device: streams",
    "precision": "effective bits of a result that is zero",
}
"""Probes that no kernel is asked either, there or at all, with a part of the answer that says why."""


def built(variant: Variant) -> EmulatedVariant:
    """As if it had been built: a session about the reference loads nothing of it."""
    known = runtime()
    plain = plain_configuration(variant, kernel_limit_s=20.0)
    files = {"library": known, "runtime": known, "digests": digests(known)}
    loaded = EmulatedSettings(**files, header_set="micro", configuration=plain)
    note = BuildNote(variant=variant.name, optimisation="O2", outcome="built", header_set="micro", compiler=None,
                     flags=(), seconds=0.0, from_cache=True)  # fmt: skip
    return EmulatedVariant(note=note, limit_s=60.0, checks_accesses=True, orders=ORDERS, more_orders=MORE_ORDERS,
                           fills=tuple(FILLS), lines=known, loaded=loaded)  # fmt: skip


def targets(folder: ClaimFolder, workers: Workers, scratch: Path) -> list[Target]:
    """One target for each tolerance and precision that a variant of the folder is held to."""
    device_run = DeviceRun(folder, EmulatedDevice(), workers=workers, scratch=scratch, keep=lambda _: None)
    device_run.make_cases(entropy=11)
    claim, found = folder.claim, {}
    for variant in claim.variant:
        held = Target(claim, variant, built(variant), tuple(device_run.cases), workers, folder.reference, scratch)
        found[held.tolerance.relative, variant.precision] = held
    return [*found.values()]


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_the_reference_stands_every_probe(path: Path, workers: Workers, tmp_path: Path) -> None:
    for target in some(targets(claims.load(str(path)), workers, tmp_path)):
        for probe in PROBES:
            beside = runner.against_reference(finding(probe, "fail"), target)
            assert beside.fails_kernel or UNANSWERED.get(probe, "nothing else") in beside.summary, beside.summary
