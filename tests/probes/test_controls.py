"""Every probe convicts its rogue and clears the honest twin, on the emulated device."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.emulated import EmulatedDevice
from audit.model import Finding, Record, Variant
from audit.pipeline import Audit
from audit.probes import PROBES
from audit.progress import Progress

FOLDER = claims.load("controls")
ROGUES = [variant for variant in FOLDER.claim.variant if variant.role == "rogue"]
HONEST = [variant for variant in FOLDER.claim.variant if variant.role == "honest"]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    out = tmp_path_factory.mktemp("controls")
    with Audit(FOLDER, EmulatedDevice(), Path(out), progress=Progress()) as audit:
        for stage in (audit.prepare, audit.review, audit.build, audit.verify):
            stage()
    return audit.record


def findings_about(record: Record, variant: Variant) -> dict[str, Finding]:
    return {finding.probe: finding for finding in record.findings if finding.target == variant.name}


def test_every_probe_and_rule_has_a_pair() -> None:
    asked = {*PROBES, "launch_geometry"}
    assert {variant.probe for variant in ROGUES} == asked
    assert {variant.probe for variant in HONEST} == asked


@pytest.mark.parametrize("variant", ROGUES, ids=lambda variant: variant.name)
def test_rogue_fails_its_probe(record: Record, variant: Variant) -> None:
    assert variant.probe is not None
    finding = findings_about(record, variant)[variant.probe]
    assert finding.outcome == "fail", finding.summary
    if finding.grade == "proved":
        assert finding.confirmed


@pytest.mark.parametrize("variant", HONEST, ids=lambda variant: variant.name)
def test_honest_twin_passes_every_probe(record: Record, variant: Variant) -> None:
    open_ones = {
        probe: finding.summary
        for probe, finding in findings_about(record, variant).items()
        if finding.outcome != "pass"
    }
    assert not open_ones
