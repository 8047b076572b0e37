"""Records of older schemas are read in the words of today, and what a probe observed stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

from audit.apps import selftest
from audit.model import old_words, store

OLDER = Path(__file__).resolve().parents[1] / "older"
PUBLISHED = OLDER / "wmma_vs_cublas/h100/record.json"


def test_a_published_record_has_the_states_and_roles_of_today() -> None:
    written, record = json.loads(PUBLISHED.read_text()), store.read(PUBLISHED)
    assert written["schema"] == 2
    assert {rung["state"] for rung in written["ladder"]} == {"cleared", "convicted"}
    assert {rung.state for rung in record.ladder} == {"passed", "failed"}
    assert {one["reproduce_with"] for one in record.model_dump()["findings"]} == {
        one["see_again"] for one in written["findings"]
    }


def test_keys_are_renamed_but_in_evidence_and_never_over_another() -> None:
    values = {"walls": [{"state": "cleared"}], "evidence": {"walls": 1, "state": "cleared"}}
    assert old_words.replaced(values) == {
        "sandbox": [{"state": "passed"}],
        "evidence": {"walls": 1, "state": "cleared"},
    }
    assert old_words.replaced({"variant": [{"role": "thief"}]}) == {"variant": [{"role": "no_op"}]}
    assert old_words.replaced({"beside": 1, "secondary_devices": 2}) == {"beside": 1, "secondary_devices": 2}


def test_a_self_test_of_schema_1_has_the_results_of_today() -> None:
    path = OLDER / "self_test/h100.json"
    written, record = json.loads(path.read_text()), selftest.read(path)
    assert written["schema"] == 1
    assert [row.role == "known_bad" for row in record.rows] == [row["role"] == "rogue" for row in written["rows"]]
    proved = [row["control"].replace("_rogue", "_bad") for row in written["rows"] if row["result"] == "convicted"]
    assert proved
    assert [row.control for row in record.rows if row.result == "proved"] == proved
    assert {check.found for check in record.checks} == {"passed", "failed"}
