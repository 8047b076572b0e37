"""Kernels that are right at the values a task draws are caught at others, in the published self-test; twins pass."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from audit import claims
from audit.probes import PROBES
from tests.probes.conftest import Answers

CAUGHT = {
    "controls_bytes/baked_scale_bad": ("dead_inputs", "with other values in input 1 (scale): 70 elements must move"),
    "controls_bytes/short_sum_bad": ("distributions", "highest bytes inputs"),
    "controls_search/best_of_each_bad": ("distributions", "strided inputs"),
}
"""The probe that fails it, and some of what that says."""
NOT_HERE = {"current_stream", "late_writes"}


@pytest.mark.parametrize("control", CAUGHT)
def test_a_known_bad_control_is_proved_wrong(published: Mapping[str, Answers], control: str) -> None:
    folder, _, name = control.partition("/")
    probe, text = CAUGHT[control]
    found = published[folder][name]
    assert (found["agreement"].outcome, found[probe].grade) == ("pass", "proved"), found[probe].summary
    assert text in found[probe].summary


@pytest.mark.parametrize("control", CAUGHT)
def test_its_twin_passes_every_probe(published: Mapping[str, Answers], control: str) -> None:
    folder, _, name = control.replace("_bad", "_good").partition("/")
    found = published[folder][name]
    assert {probe: found[probe].summary for probe in PROBES.keys() - NOT_HERE if found[probe].outcome != "pass"} == {}


def test_every_control_of_these_folders_is_one_of_them_or_its_twin() -> None:
    folders = {control.partition("/")[0] for control in CAUGHT}
    names = {f"{folder}/{one.name}" for folder in folders for one in claims.load(folder).claim.variant}
    assert names == {*CAUGHT, *(control.replace("_bad", "_good") for control in CAUGHT)}
