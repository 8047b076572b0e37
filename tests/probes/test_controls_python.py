"""Rogues written in Python and Triton fail the probe they are for, honest ones none, on the emulated device."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit import claims
from audit.build.emulated import EmulatedDevice
from audit.model import Finding, Record, Variant
from audit.pipeline import Audit
from audit.probes import PROBES
from audit.progress import Progress

NAMES = ("controls_python", "controls_python_rows", "controls_python_inplace", "controls_python_model")
FOLDERS = {name: claims.load(name) for name in NAMES}
TRITON = importlib.util.find_spec("triton") is not None
ON_A_GPU = ("graph_replay_rogue", "graph_replay_honest", "torch_compiled_honest")
HINTED = ("backend_flags", "review.own_timing")
"""What is told of these convicts nobody: the kit takes its times and compares in processes of its own."""
CALLERS_CHOICE = ("layout", "kernels_ran")
"""Hints an honest source may earn: kernels that want contiguous inputs, and none of its own beside a library."""


def variants(role: str) -> Iterator[object]:
    for name, folder in FOLDERS.items():
        for variant in folder.claim.variant:
            if variant.role == role and variant.name not in ON_A_GPU:
                missing = variant.technique.startswith("Triton") and not TRITON
                skipped = [pytest.mark.skip(reason="triton is not installed here")] if missing else []
                yield pytest.param(name, variant, id=variant.name, marks=skipped)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    found = {}
    for name, folder in FOLDERS.items():
        out = tmp_path_factory.mktemp(name)
        with Audit(folder, EmulatedDevice(), Path(out), progress=Progress()) as audit:
            for stage in (audit.prepare, audit.review, audit.build, audit.verify):
                stage()
        found[name] = audit.record
    return found


def about(record: Record, variant: Variant) -> dict[str, Finding]:
    return {finding.probe: finding for finding in record.findings if finding.target == variant.name}


def test_every_rogue_names_a_probe_and_has_a_twin() -> None:
    for folder in FOLDERS.values():
        by_name = {variant.name: variant for variant in folder.claim.variant}
        rogues = [variant for variant in folder.claim.variant if variant.role == "rogue"]
        assert {rogue.probe for rogue in rogues} <= {*PROBES, *HINTED}
        for rogue in rogues:
            twin = by_name[rogue.name.replace("_rogue", "_honest")]
            assert (twin.role, twin.probe) == ("honest", rogue.probe)


@pytest.mark.parametrize(("name", "variant"), list(variants("rogue")))
def test_rogue_fails_its_probe(records: dict[str, Record], name: str, variant: Variant) -> None:
    assert variant.probe is not None
    finding = about(records[name], variant)[variant.probe]
    assert finding.outcome == "fail", finding.summary
    assert finding.grade == ("hint" if variant.probe in HINTED else "proved")
    assert finding.confirmed or finding.grade == "hint"


@pytest.mark.parametrize(("name", "variant"), list(variants("honest")))
def test_honest_twin_fails_nothing(records: dict[str, Record], name: str, variant: Variant) -> None:
    found = about(records[name], variant)
    assert set(found) >= PROBES.keys()
    wrong = {
        probe: finding.summary
        for probe, finding in found.items()
        if finding.outcome == "error" or (finding.outcome == "fail" and finding.grade != "hint")
    }
    hinted = {probe for probe, finding in found.items() if finding.grade == "hint" and probe in PROBES}
    assert not wrong
    assert hinted <= set(CALLERS_CHOICE)
    assert ("kernels_ran" in hinted) == ("declared" in variant.technique)
    assert variant.probe not in HINTED or variant.probe not in found or found[variant.probe].outcome == "pass"


@pytest.mark.parametrize("name", ON_A_GPU)
def test_what_exists_on_a_gpu_only_is_skipped_with_its_reason(records: dict[str, Record], name: str) -> None:
    (finding,) = (one for one in records["controls_python"].findings if (one.target, one.probe) == (name, "build"))
    assert finding.outcome == "skip"
    assert ("torch.compile" if name.startswith("torch_compiled") else "CUDA graphs") in finding.summary


def test_a_reference_in_the_process_would_have_been_found(records: dict[str, Record]) -> None:
    rogue = next(one for one in FOLDERS["controls_python"].claim.variant if one.name == "heap_scan_rogue")
    found = about(records["controls_python"], rogue)
    assert found["order"].outcome == "pass"  # the reference is there, since this probe calls it
    assert found["agreement"].convicts
