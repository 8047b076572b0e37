"""The published self-tests are of the controls as they are now, fall short of nothing, and are what the docs print."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps.pages.self_test import SHORT
from audit.apps.selftest import controls, read
from audit.apps.selftest.score import shortfalls

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "reports/self_test"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PUBLISHED = sorted(REPORTS.glob("*.json"), key=lambda path: (path.stem != "emulated", path.stem))
BLIND = sorted(REPORTS.glob("blind/*.json"))
CHANGED = {"race_reuse_bad", "race_reuse_good"}
"""Controls whose source changed after GPUs were asked: what one thread reads in the race, another uses now."""


def test_the_emulated_device_has_one() -> None:
    assert REPORTS / "emulated.json" in PUBLISHED


def as_they_are_now(*, blind: bool) -> set[tuple[str, str]]:
    """Name and SHA-256 of every control."""
    return {
        (variant.name, folder.digest_of(variant))
        for folder in controls.folders(blind=blind)
        for variant in folder.claim.variant
        if variant.role in controls.ROLES
    }


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_it_is_of_the_controls_as_they_are_now(path: Path) -> None:
    record, now = read(path), as_they_are_now(blind=False)
    rows = {(row.control, row.sha256) for row in record.rows}
    if record.schema_ == 1:  # the comments of controls were reworded since; their names must still be those
        rows, now = {(name, "") for name, _ in rows}, {(name, "") for name, _ in now}
    if record.device.kind == "cuda":
        rows = {(name, sha256) for name, sha256 in rows if name not in CHANGED}
    assert rows <= now, "run `audit self-test --out FILE` again there"
    assert record.device.kind == "cuda" or rows == now, "run `audit self-test --device emulated --out FILE` again"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_what_falls_short_is_said_so_and_the_emulated_device_does_not(path: Path) -> None:
    record = read(path)
    (line,) = (
        one for one in README.splitlines() if one.startswith(f"- {record.device.name}") and "falsely failed" in one
    )
    assert line.endswith(SHORT) is bool(shortfalls(record))
    assert path.stem != "emulated" or not shortfalls(record)


@pytest.mark.parametrize("path", BLIND, ids=lambda path: path.stem)
def test_a_blind_one_is_of_the_blind_controls_as_they_are_now(path: Path) -> None:
    asked = {(row.control, row.sha256) for row in read(path).rows}
    assert asked
    assert asked <= as_they_are_now(blind=True), "run `audit self-test --blind` again there"


def test_blind_ones_were_asked_before_and_after() -> None:
    assert {path.stem.partition("_")[0] for path in BLIND} == {"before", "after"}
