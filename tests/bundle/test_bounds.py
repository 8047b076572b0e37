"""A record past what an audit can produce is refused before anything is derived from it; one within is judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.model import record as bounds
from audit.model import store, untrusted
from audit.model.errors import BadInput
from tests.bundle.forging import as_json

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "diag_matmul" / "h100" / "record.json"


def with_blocks(count: int) -> Callable[[Any], None]:
    """So many blocks in one series."""

    def change(document: Any) -> None:
        document["measurements"][0] |= {"samples_ms": [1.0] * count, "blocks": list(range(count)), "positions": []}

    return change


def with_timings(count: int, samples: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        one = document["measurements"][0] | {"samples_ms": [1.0] * samples, "blocks": [], "positions": []}
        document["measurements"] = [one] * count

    return change


def with_callables(count: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        one = document["measurements"][0] | {"samples_ms": [1.0], "blocks": [], "positions": []}
        document["measurements"] = [one | {"variant": f"v{number}"} for number in range(count)]

    return change


def with_environment(part: str, count: int) -> Callable[[Any], None]:
    """So many entries of that part of the environment."""
    first = {"stages": {"name": "build", "seconds": 1.0}, "sandbox": {"name": "network", "up": True}}

    def change(document: Any) -> None:
        known = document["environment"]
        known[part] = [first.get(part) or known[part][0]] * count

    return change


def with_packages(count: int) -> Callable[[Any], None]:
    return lambda document: document["environment"].update(packages={f"p{one}": "1" for one in range(count)})


def with_findings(count: int, targets: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        one = document["findings"][0] | {"evidence": {}}
        document["findings"] = [one | {"target": f"t{number % targets}"} for number in range(count)]

    return change


def with_evidence(values: int) -> Callable[[Any], None]:
    return lambda document: document["findings"][0].update(evidence={"map": [[0] * 1000] * (values // 1000)})


PAST: dict[str, tuple[Callable[[Any], None], str]] = {
    "200,000 blocks": (with_blocks(200_000), "samples_ms is a list of 200,000"),
    "a block too many": (with_blocks(bounds.MOST_BLOCKS + 1), "less than 500"),
    "a sample too many": (with_timings(1, bounds.MOST_SAMPLES + 1), "at most 4000"),
    "samples in all": (with_timings(16, bounds.MOST_SAMPLES), "64,000 samples; at most 60,000"),
    "callables": (with_callables(bounds.MOST_TIMED + 1), "times of 151 callables; at most 150"),
    "builds": (with_environment("builds", bounds.MOST_BUILDS + 1), "at most 1000"),
    "packages": (with_packages(bounds.MOST_PACKAGES + 1), "at most 100"),
    "stages": (with_environment("stages", bounds.MOST_STAGES + 1), "at most 50"),
    "limits": (with_environment("sandbox", bounds.MOST_LIMITS + 1), "at most 50"),
    "timings": (with_timings(bounds.MOST_TIMINGS + 1, 1), "at most 1000"),
    "findings": (with_findings(bounds.MOST_FINDINGS + 1, 50), "at most 5000"),
    "findings about one": (with_findings(bounds.MOST_OF_ONE + 1, 1), "401 findings about t0; at most 400"),
    "things": (with_findings(bounds.MOST_TARGETS + 1, bounds.MOST_TARGETS + 1), "findings about 201 things"),
    "values": (with_evidence(untrusted.MOST_VALUES), "values; at most 500,000"),
}
WITHIN = {
    "blocks": with_blocks(bounds.MOST_BLOCKS),
    "samples": with_timings(15, bounds.MOST_SAMPLES),
    "findings": with_findings(bounds.MOST_FINDINGS, 50),
}


def changed(change: Callable[[Any], None]) -> bytes:
    document = json.loads(PUBLISHED.read_bytes())
    change(document)
    return as_json(document)


@pytest.mark.parametrize("kind", PAST)
def test_what_no_audit_produces_is_refused(kind: str) -> None:
    change, words = PAST[kind]
    with pytest.raises(BadInput, match=words) as error:
        store.parse(changed(change), "x")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", WITHIN)
def test_what_an_audit_may_produce_is_read(kind: str) -> None:
    assert store.parse(changed(WITHIN[kind]), "x").findings
