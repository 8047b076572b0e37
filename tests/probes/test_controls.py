"""Every probe fails its known-bad control and passes the known-good one, in the published self-test."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from audit import claims
from audit.apps.selftest.record import Answer
from audit.model import Variant
from audit.probes import PROBES
from tests.probes.conftest import Answers

FOLDER = claims.load("controls")
KNOWN_BAD = [variant for variant in FOLDER.claim.variant if variant.role == "known_bad"]
KNOWN_GOOD = [variant for variant in FOLDER.claim.variant if variant.role == "known_good"]
ON_A_GPU = {"current_stream"}
"""Probes whose mechanism the emulated device does not have."""
ELSEWHERE = {"untouched_process"}
"""Probes whose controls are written in Python, in `controls_python`."""
CONTIGUOUS_ONLY = "layout"
"""Most controls take their inputs for contiguous, as published kernels do: a hint, which fails no kernel."""
ONE_LAUNCH_ONLY = "claimed_blocks"
"""Skips a control that has several launches in a row."""
HOST_ONLY = "late_writes"
"""Without a GPU it answers of threads of the host; of a kernel's writes it is skipped."""
ALLOWS_TF32 = "backend_flags"
"""The known-good control allows TF32 and takes it back: how precise its products are on a GPU is not shown."""
NEEDS_STREAMS = {"late_writes"}
"""Sees what threads of the host write late; beside kernels of the source it has no answer without a GPU."""
HINTED = {"layout", "nonfinite", "threads", "backend_flags", "first_call", "launch_geometry", "memory_access"}
"""Probes and rules whose failure is no proof."""


@pytest.fixture(scope="module")
def answers(published: Mapping[str, Answers]) -> Answers:
    return published[FOLDER.claim.name]


def test_every_probe_and_rule_has_a_pair() -> None:
    asked = {*PROBES, "launch_geometry"} - ELSEWHERE
    assert {variant.probe for variant in KNOWN_BAD} == asked
    assert {variant.probe for variant in KNOWN_GOOD} == asked


@pytest.mark.parametrize("variant", KNOWN_BAD, ids=lambda variant: variant.name)
def test_known_bad_control_fails_its_probe(answers: Answers, variant: Variant) -> None:
    assert variant.probe is not None
    found = answers[variant.name][variant.probe]
    assert found.outcome == ("skip" if variant.probe in ON_A_GPU else "fail"), found.summary
    assert found.grade == "proved" or variant.probe in HINTED | ON_A_GPU, "a probe whose failure is no proof is HINTED"


@pytest.mark.parametrize("variant", KNOWN_GOOD, ids=lambda variant: variant.name)
def test_known_good_twin_passes_every_probe(answers: Answers, variant: Variant) -> None:
    found = answers[variant.name]
    assert found.keys() >= PROBES.keys()
    assert {probe: one.summary for probe, one in found.items() if not passes(probe, one, variant)} == {}


def passes(probe: str, answer: Answer, variant: Variant) -> bool:
    """Whether the answer is one that a right kernel may get."""
    if probe == CONTIGUOUS_ONLY != variant.probe and answer.outcome == "fail":
        return answer.grade == "hint"
    elsewhere = probe in ON_A_GPU or probe == HOST_ONLY or (probe == "precision" and variant.probe == ALLOWS_TF32)
    if elsewhere or probe == ONE_LAUNCH_ONLY != variant.probe:
        return answer.outcome in ("pass", "skip")
    return answer.outcome == "pass"


def test_a_replayed_result_is_reported_as_one(answers: Answers) -> None:
    summary = answers["fresh_values_bad_shape"]["fresh_values"].summary
    assert "bit for bit the result of the first call" in summary
    assert "right in a fresh process" in summary


def test_wrong_from_the_first_call_on_is_reported_once(answers: Answers) -> None:
    found = {probe: one.outcome for probe, one in answers["agreement_bad"].items()}
    assert found["agreement"] == "fail"
    assert {found[probe] for probe in ("fresh_values", "repeat", "distributions", "precision", "alias")} == {"skip"}


def test_a_counter_is_caught_behind_its_patience(answers: Answers) -> None:
    assert "a repeated call" in answers["repeat_bad"]["repeat"].summary


def test_a_ring_of_results_is_caught_by_holding_one_through_many_calls(answers: Answers) -> None:
    assert "a later call changed this result, which was right before" in answers["alias_bad_ring"]["alias"].summary


def test_a_result_that_is_left_alone_is_caught_in_its_own_memory(answers: Answers) -> None:
    found = answers["inherited_bad_sample"]
    assert found["agreement"].outcome == "pass"
    assert "a result of its own with a few other values" in found["inherited"].summary
