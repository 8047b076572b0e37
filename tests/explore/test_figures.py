"""Figures of a record: what they draw, what they say instead of drawing, and what can be picked."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from audit import judge
from audit.apps.notebook import maps
from audit.apps.notebook import records as explored
from audit.apps.notebook.maps import Choice
from audit.measure import samples
from audit.model import Record
from audit.report.messages import milliseconds

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "reports"
SMALL = "M = 33, K = 70, N = 20"


@pytest.fixture(scope="module")
def h100() -> Record:
    return judge.opened(REPORTS / "triangular_mm/h100/record.json")


@pytest.fixture(scope="module")
def two_devices() -> Record:
    """An audit on an H100 beside which the emulated device answered."""
    return judge.opened(ROOT / "tests/older/wmma_vs_cublas/h100/record.json")


def captions(record: Record, choice: Choice) -> dict[str, str]:
    drawn = explored.figures(record, choice)
    assert all(figure.png.startswith(b"\x89PNG") for figure in drawn)
    return {figure.name: figure.alt for figure in drawn}


def test_the_claimed_kernel(h100: Record) -> None:
    first = maps.first(h100)
    assert first == Choice("claimed", "cuda", "N = 4,096")
    result = captions(h100, first)
    assert list(result) == ["coverage", "errors", "times", "waterfall"]
    assert "4,096 of 16,777,216 elements written" in result["coverage"]
    assert "N = 33, forward: 1,056 of 1,089 wrong" in result["errors"].replace("\n", " ")
    assert "did not pass: an unverified timing, no speedup of it is reported" in result["times"]
    assert "about 150x" in result["waterfall"]


def test_a_repair_on_the_other_device(two_devices: Record) -> None:
    wanted = Choice("fixed_register_tiled", "emulated", SMALL)
    assert maps.nearest(two_devices, wanted) == wanted
    result = captions(two_devices, wanted)
    assert "all right" in result["errors"]
    timed = samples.found(two_devices.measurements, "fixed_register_tiled")[-1].samples_ms
    assert f"fixed_register_tiled: median {milliseconds(median(timed))} of {len(timed)}" in result["times"]


def test_without_times_the_figure_says_so() -> None:
    record = judge.opened(REPORTS / "triangular_mm/emulated/record.json")
    result = captions(record, maps.first(record))
    assert result["times"] == "Times of claimed: NOT MEASURED; the emulated device gives no times."
    assert "NOT MEASURED" in result["waterfall"]


def test_before_anything_was_found(record: Record) -> None:
    result = captions(record, maps.first(record))
    assert result["coverage"] == "Coverage of claimed: not asked on this device."
    assert result["errors"] == "Errors of claimed: not asked on this device."


def test_what_can_be_picked(two_devices: Record) -> None:
    assert maps.devices(two_devices, "claimed") == ["cuda", "emulated"]
    known = ["M = 1, K = 1, N = 1", SMALL, "M = 70, K = 33, N = 130"]
    assert maps.shapes(two_devices, "claimed", "emulated") == known
    assert maps.nearest(two_devices, Choice("claimed", "emulated", "N = 4,096")).shape == known[-1]


def test_every_published_record_can_be_picked() -> None:
    known = maps.records(REPORTS)
    assert known["triangular_mm, h100"] == REPORTS / "triangular_mm/h100/record.json"
    assert set(known.values()) == set(REPORTS.glob("*/*/record.json"))
