"""A finished record without running anything, and small builders for the tests of the judge and of the record."""

from __future__ import annotations

from typing import Any

import pytest

from audit import claims
from audit.model import Device, Environment, Finding, Record


def finding(probe: str, outcome: str = "pass", *, target: str = "claimed", **more: Any) -> Finding:
    grade = more.pop("grade", "proved" if outcome == "fail" else None)
    fields = {"probe": probe, "target": target, "outcome": outcome, "grade": grade, "summary": f"{probe} {outcome}"}
    return Finding.model_validate(fields | more)


def order_finding(target: str, claim_first: bool, reference_first: bool) -> Finding:
    evidence = {"claim_first": {"right": claim_first}, "reference_first": {"right": reference_first}}
    outcome = "pass" if claim_first and reference_first else "fail"
    return finding("order", outcome, target=target, evidence=evidence)


@pytest.fixture
def record() -> Record:
    """The triangular claim on the emulated device before anything was found."""
    return Record(
        claim=claims.load("triangular_mm").audited,
        device=Device(kind="emulated", name="emulated device", compute_capability=75, note="no times"),
        environment=Environment(
            kit="0", started_utc="2026-11-21T00:00:00+00:00", machine="m", system="s", python="3.11", packages={}
        ),
    )
