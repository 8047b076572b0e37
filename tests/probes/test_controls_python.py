"""Known-bad controls written in Python and Triton fail their probe, known-good ones none, without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from audit import claims
from audit.model import Variant
from audit.probes import PROBES
from audit.review import reach
from tests.conftest import some
from tests.probes.conftest import Answers

NAMES = ("controls_python", "controls_python_rows", "controls_python_inplace", "controls_python_model")
FOLDERS = {name: claims.load(name) for name in NAMES}
ON_A_GPU = ("graph_replay_bad", "graph_replay_good", "torch_compiled_good")
HINTED = ("backend_flags", "review.own_timing")
"""What is told of these fails no kernel: the kit takes its times and compares in processes of its own."""
CALLERS_CHOICE = ("layout", "kernels_ran")
"""Hints a known-good source may earn: kernels that want contiguous inputs, and none of its own beside a library."""


def variants(role: str) -> Iterator[object]:
    for folder in FOLDERS.values():
        for variant in folder.claim.variant:
            if variant.role == role and variant.name not in ON_A_GPU:
                yield pytest.param(variant, id=variant.name)


@pytest.fixture(scope="module")
def answers(published: Mapping[str, Answers]) -> Answers:
    return {control: found for name in NAMES for control, found in published[name].items()}


def test_every_known_bad_control_names_a_probe_and_has_a_twin() -> None:
    by_name = {variant.name: variant for folder in FOLDERS.values() for variant in folder.claim.variant}
    for bad in some(variant for variant in by_name.values() if variant.role == "known_bad"):
        twin = by_name[bad.name.replace("_bad", "_good")]
        assert bad.probe in {*PROBES, *HINTED}
        assert (twin.role, twin.probe) == ("known_good", bad.probe)


@pytest.mark.parametrize("variant", list(variants("known_bad")))
def test_known_bad_control_fails_its_probe(answers: Answers, variant: Variant) -> None:
    assert variant.probe is not None
    answer = answers[variant.name][variant.probe]
    assert answer.outcome == "fail", answer.summary
    assert answer.grade == ("hint" if variant.probe in HINTED else "proved")


@pytest.mark.parametrize("variant", list(variants("known_good")))
def test_known_good_twin_fails_nothing(answers: Answers, variant: Variant) -> None:
    found = answers[variant.name]
    assert set(found) >= PROBES.keys()
    wrong = {
        probe: finding.summary
        for probe, finding in found.items()
        if (finding.outcome == "error" and probe != reach.NAME)
        or (finding.outcome == "fail" and finding.grade != "hint")
    }
    hinted = {probe for probe, finding in found.items() if finding.grade == "hint" and probe in PROBES}
    assert not wrong
    assert hinted <= set(CALLERS_CHOICE)
    assert ("kernels_ran" in hinted) == ("declared" in variant.technique)
    assert variant.probe not in HINTED or variant.probe not in found or found[variant.probe].outcome == "pass"


@pytest.mark.parametrize("name", ON_A_GPU)
def test_what_exists_on_a_gpu_only_is_skipped_with_its_reason(answers: Answers, name: str) -> None:
    build = answers[name]["build"]
    assert build.outcome == "skip"
    assert ("torch.compile" if name.startswith("torch_compiled") else "CUDA graphs") in build.summary


def test_a_reference_in_the_process_would_have_been_found(answers: Answers) -> None:
    found = answers["heap_scan_bad"]
    assert found["order"].outcome == "pass"  # the reference is there, since this probe calls it
    assert found["agreement"].grade == "proved"
