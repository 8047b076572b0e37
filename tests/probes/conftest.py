"""Answers about the controls in the published self-test; `make self-test` asks again and reports every difference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from audit.apps.selftest import read
from audit.apps.selftest.record import Answer
from audit.probes import PROBES

ROOT = Path(__file__).resolve().parents[2]
Answers = Mapping[str, Mapping[str, Answer]]


@pytest.fixture(scope="session")
def published() -> Mapping[str, Answers]:
    """By folder, control and probe."""
    found: dict[str, dict[str, Mapping[str, Answer]]] = {}
    for row in read(ROOT / "reports/self_test/emulated.json").rows:
        found.setdefault(row.folder, {})[row.control] = row.answers
    unasked = PROBES.keys() - {probe for asked in found.values() for answers in asked.values() for probe in answers}
    assert not unasked, f"ask all controls again, docs/add_a_probe.md has the command: no answer of {sorted(unasked)}"
    return found
