"""Undefined behaviour is reported with its line, and look-alikes pass every probe, in the published self-test."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from audit import claims
from audit.model import Variant
from audit.probes import PROBES
from tests.probes.conftest import Answers

FOLDER = claims.load("controls_undefined")
VARIANTS = FOLDER.claim.variant
KNOWN_GOOD = [variant for variant in VARIANTS if variant.role == "known_good"]
PROBE = "memory_access"
KINDS = {
    "race_shared_bad": ("race-shared", "sums[threadIdx.x] += "),
    "race_reuse_bad": ("race-shared", "held[threadIdx.x] = value"),
    "race_start_bad": ("race-shared", "atomicAdd(&total"),
    "race_global_bad": ("race-global", "result[0] += sum"),
    "warp_volatile_bad": ("warp-mask", "s[threadIdx.x + lanes]"),
    "unwritten_shared_bad": ("uninitialised-read", "sums[threadIdx.x] += "),
    "unwritten_part_bad": ("uninitialised-read", "sums[threadIdx.x] += "),
    "barrier_divergent_bad": ("barrier-divergence", "__syncthreads()"),
    "lane_exited_bad": ("exited-lane-read", "__shfl_down_sync"),
}
READS_AND_DROPS = "unwritten_shared_good"
RIGHT_HERE = tuple(f"{name}_bad" for name in ("race_global", "warp_volatile", "barrier_divergent"))
NOT_HERE = {"current_stream", "late_writes"}


@pytest.fixture(scope="module")
def answers(published: Mapping[str, Answers]) -> Answers:
    return published[FOLDER.claim.name]


def test_every_known_bad_control_has_a_kind() -> None:
    known_bad = {
        variant.name for variant in VARIANTS if variant.role == "known_bad" and variant.probe != "claimed_blocks"
    }
    assert known_bad == {*KINDS}


@pytest.mark.parametrize("name", KINDS)
def test_a_known_bad_control_is_undefined_with_its_line(answers: Answers, name: str) -> None:
    found, (kind, text) = answers[name][PROBE], KINDS[name]
    assert (found.outcome, found.grade) == ("fail", "undefined"), found.summary
    place = re.match(rf"rows=5, cols=300: {kind} in line (\d+) of ", found.summary)
    assert place is not None, found.summary
    lines = (FOLDER.path / f"{name}.cu").read_text(encoding="utf-8").splitlines()
    assert text in lines[int(place[1]) - 1]


@pytest.mark.parametrize("name", RIGHT_HERE)
def test_right_values_do_not_hide_it(answers: Answers, name: str) -> None:
    assert answers[name]["agreement"].outcome == "pass"


@pytest.mark.parametrize("name", ["race_shared_bad", "race_reuse_bad", "race_start_bad", "unwritten_shared_bad"])
def test_a_wrong_value_that_an_order_or_a_fill_rights_is_undefined(answers: Answers, name: str) -> None:
    found = answers[name]["agreement"]
    assert (found.grade, "a GPU may differ" in found.summary) == ("undefined", True), found.summary


def test_a_wrong_value_in_every_order_and_fill_is_proved(answers: Answers) -> None:
    found = answers["unwritten_part_bad"]["agreement"]
    assert (found.grade, "in every order and fill" in found.summary) == ("proved", True), found.summary


def test_an_order_of_blocks_that_only_long_rows_need_is_undefined(answers: Answers) -> None:
    found = answers["claimed_order_bad"]
    assert (found["agreement"].outcome, found[PROBE].outcome) == ("pass", "pass")
    assert (found["claimed_blocks"].grade, "in another" in found["claimed_blocks"].summary) == ("undefined", True)


def test_a_race_that_only_long_rows_have_is_undefined(answers: Answers) -> None:
    found = answers["claimed_race_bad"]
    assert (found["agreement"].outcome, found[PROBE].outcome) == ("pass", "pass")
    blocks = found["claimed_blocks"]
    assert (blocks.grade, "race-shared in line" in blocks.summary) == ("undefined", True), blocks.summary


@pytest.mark.parametrize("variant", KNOWN_GOOD, ids=lambda variant: variant.name)
def test_what_only_looks_like_it_passes_every_probe(answers: Answers, variant: Variant) -> None:
    allowed = {*NOT_HERE, *([PROBE] if variant.name == READS_AND_DROPS else ())}
    found = answers[variant.name]
    assert {probe: found[probe].summary for probe in PROBES.keys() - allowed if found[probe].outcome != "pass"} == {}


def test_a_value_that_is_read_and_dropped_is_a_hint(answers: Answers) -> None:
    found = answers[READS_AND_DROPS][PROBE]
    assert (found.grade, "uninitialised-read" in found.summary) == ("hint", True)
    assert found.summary.endswith("bit for bit, with 4 fills")
