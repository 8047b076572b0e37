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
from audit.worker.pool import Workers

FOLDER = claims.load("controls")
ROGUES = [variant for variant in FOLDER.claim.variant if variant.role == "rogue"]
HONEST = [variant for variant in FOLDER.claim.variant if variant.role == "honest"]
ON_A_GPU = {"current_stream"}
"""Probes whose mechanism the emulated device does not have."""
ELSEWHERE = {"untouched_process"}
"""Probes whose controls are written in Python, in `controls_python`."""
CONTIGUOUS_ONLY = "layout"
"""Most controls take their inputs for contiguous, as published kernels do: a hint, which accuses nobody."""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory, workers: Workers) -> Record:
    out = tmp_path_factory.mktemp("controls")
    with Audit(FOLDER, EmulatedDevice(), Path(out), workers=workers, progress=Progress()) as audit:
        for stage in (audit.prepare, audit.review, audit.build, audit.verify):
            stage()
    return audit.record


def findings_about(record: Record, variant: Variant) -> dict[str, Finding]:
    return {finding.probe: finding for finding in record.findings if finding.target == variant.name}


def test_every_probe_and_rule_has_a_pair() -> None:
    asked = {*PROBES, "launch_geometry"} - ELSEWHERE
    assert {variant.probe for variant in ROGUES} == asked
    assert {variant.probe for variant in HONEST} == asked


@pytest.mark.parametrize("variant", ROGUES, ids=lambda variant: variant.name)
def test_rogue_fails_its_probe(record: Record, variant: Variant) -> None:
    assert variant.probe is not None
    finding = findings_about(record, variant)[variant.probe]
    assert finding.outcome == ("skip" if variant.probe in ON_A_GPU else "fail"), finding.summary
    if finding.grade == "proved":
        assert finding.confirmed


@pytest.mark.parametrize("variant", HONEST, ids=lambda variant: variant.name)
def test_honest_twin_passes_every_probe(record: Record, variant: Variant) -> None:
    open_ones = {
        probe: finding.summary
        for probe, finding in findings_about(record, variant).items()
        if finding.outcome != "pass" and probe not in ON_A_GPU and not (probe == CONTIGUOUS_ONLY != variant.probe)
    }
    assert not open_ones
    assert not any(finding.convicts for finding in findings_about(record, variant).values())


CONVICTED = {
    "fresh_values_rogue_pointer": "proved",
    "fresh_values_rogue_shape": "proved",
    "fresh_values_rogue_content": "proved",
    "repeat_rogue": "proved",
    "dead_inputs_rogue": "proved",
    "distributions_rogue": "proved",
    "precision_rogue": "proved",
    "alias_rogue": "proved",
    "late_writes_rogue": "proved",
    "layout_rogue": "hint",
    "nonfinite_rogue": "hint",
    "threads_rogue": "hint",
    "backend_flags_rogue": "hint",
    "first_call_rogue": "hint",
}


@pytest.mark.parametrize("name", CONVICTED)
def test_grade_of_a_rogue(record: Record, name: str) -> None:
    variant = next(variant for variant in ROGUES if variant.name == name)
    assert variant.probe is not None
    assert findings_about(record, variant)[variant.probe].grade == CONVICTED[name]


def test_a_replayed_result_is_told_as_one(record: Record) -> None:
    (finding,) = (
        one for one in record.findings if (one.target, one.probe) == ("fresh_values_rogue_shape", "fresh_values")
    )
    assert "bit for bit the result of the first call" in finding.summary
    assert "right in a fresh process" in finding.summary


def test_wrong_from_the_first_call_on_is_told_once(record: Record) -> None:
    told = {one.probe: one.outcome for one in record.findings if one.target == "agreement_rogue"}
    assert told["agreement"] == "fail"
    assert {told[probe] for probe in ("fresh_values", "repeat", "distributions", "precision", "alias")} == {"skip"}


def test_a_counter_is_caught_behind_its_patience(record: Record) -> None:
    (finding,) = (one for one in record.findings if (one.target, one.probe) == ("repeat_rogue", "repeat"))
    assert "a call with other values after them" in finding.summary
