"""The reference of every claim stands every probe: else a defect of its kernels would go undecided.

That of a folder of controls is asked in the self-test, where it must stand the probe that a control is made for.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from audit import claims
from audit.build.emulated.build import EmulatedBuild
from audit.build.emulated.device import EmulatedDevice, EmulatedVariant
from audit.build.emulated.prepared import runtime
from audit.claims import ClaimFolder
from audit.device_run import DeviceRun
from audit.model import Variant
from audit.probes import PROBES, runner
from audit.probes.target import Target
from audit.run.pool import Workers
from tests.conftest import finding, some

FOLDERS = sorted(
    path.parent for path in claims.KERNELS.glob(f"*/{claims.STATEMENT}") if not path.parent.name.startswith("controls")
)
UNANSWERED = {
    "current_stream": "not supported on this device: streams",
    "precision": "effective bits of a result that is zero",
}
"""Probes that no kernel is asked either, there or at all."""


def built(variant: Variant) -> EmulatedVariant:
    """As if it had been built: a session about the reference loads nothing of it."""
    nothing = {field.name: None for field in fields(EmulatedBuild)}
    known = runtime(lambda _: None)
    there = {"library": known, "runtime": known, "header_set": "micro", "flags": ()}
    library = EmulatedBuild(**{**nothing, **there})
    return EmulatedVariant(library=library, variant=variant, optimisation="O2", limit_s=60.0, kernel_limit_s=20.0)


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
