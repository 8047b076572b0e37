"""The published self-tests are of the controls as they are now, fall short of nothing, and are what the docs print."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.selftest import controls, read
from audit.selftest.page import page
from audit.selftest.score import shortfalls

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "reports/self_test"
PUBLISHED = sorted(REPORTS.glob("*.json"), key=lambda path: (path.stem != "emulated", path.stem))


def test_the_emulated_device_has_one() -> None:
    assert REPORTS / "emulated.json" in PUBLISHED


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_it_is_of_the_controls_as_they_are_now(path: Path) -> None:
    now = {
        (variant.name, source.sha256)
        for folder in controls.folders()
        for variant in folder.claim.variant
        for source in folder.audited.sources
        if source.file == variant.file and variant.role in controls.ROLES
    }
    assert {(row.control, row.sha256) for row in read(path).rows} == now, "run `audit self-test --out FILE` again there"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_nothing_falls_short(path: Path) -> None:
    assert shortfalls(read(path)) == []


def test_the_docs_are_printed_from_them() -> None:
    docs = (ROOT / "docs/self_test.md").read_text(encoding="utf-8")
    assert docs == page([read(path) for path in PUBLISHED]), "run `python -m audit.selftest.page` again"
