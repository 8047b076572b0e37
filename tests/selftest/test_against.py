from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps.selftest import read
from audit.apps.selftest.record import SelfTest
from audit.apps.selftest.score import differences
from audit.model.errors import BadInput

BEFORE = read(Path(__file__).resolve().parents[2] / "reports/self_test/emulated.json")


def changed(index: int, **fields: str) -> SelfTest:
    rows = list(BEFORE.rows)
    rows[index] = rows[index].model_copy(update=fields)
    return BEFORE.model_copy(update={"rows": tuple(rows)})


def test_the_same_answers_differ_in_nothing() -> None:
    assert differences(BEFORE, BEFORE) == []


def test_a_control_that_comes_out_otherwise_is_named() -> None:
    index = next(k for k, row in enumerate(BEFORE.rows) if row.result == "proved")
    (result,) = differences(changed(index, result="missed", reason="it passed"), BEFORE)
    assert result == f"{BEFORE.rows[index].folder}/{BEFORE.rows[index].control}: proved before, missed now it passed"


def test_a_probe_that_comes_out_otherwise_is_named() -> None:
    index, row = next((k, row) for k, row in enumerate(BEFORE.rows) if row.result == "passed")
    failed = row.answers["layout"].model_copy(update={"outcome": "error", "grade": None, "summary": "it ended"})
    now = row.model_copy(update={"answers": {**row.answers, "layout": failed}})
    rows = (*BEFORE.rows[:index], now, *BEFORE.rows[index + 1 :])
    (result,) = differences(BEFORE.model_copy(update={"rows": rows}), BEFORE)
    was = row.answers["layout"].outcome
    assert result == f"{row.folder}/{row.control}: layout {was} before, error now: it ended"


def test_of_a_known_bad_control_only_its_own_probe_counts() -> None:
    index, row = next((k, row) for k, row in enumerate(BEFORE.rows) if row.result == "proved" and row.probe)
    assert row.probe is not None

    def now(probe: str) -> list[str]:
        other = row.answers[row.probe or ""].model_copy(update={"outcome": "error", "grade": None, "summary": "late"})
        changed_row = row.model_copy(update={"answers": {**row.answers, probe: other}})
        rows = (*BEFORE.rows[:index], changed_row, *BEFORE.rows[index + 1 :])
        return differences(BEFORE.model_copy(update={"rows": rows}), BEFORE)

    assert now("threads") == []
    assert now(row.probe) == [f"{row.folder}/{row.control}: {row.probe} fail before, error now: late"]


def test_what_a_machine_cannot_answer_is_no_difference() -> None:
    assert differences(changed(0, result="skipped", reason="triton is not installed"), BEFORE) == []


def test_a_control_only_one_of_them_asked_is_named() -> None:
    without = BEFORE.model_copy(update={"rows": BEFORE.rows[1:]})
    place = f"{BEFORE.rows[0].folder}/{BEFORE.rows[0].control}"
    assert differences(without, BEFORE) == [f"{place}: {BEFORE.rows[0].result} before, not asked now"]
    assert differences(BEFORE, without) == [f"{place}: {BEFORE.rows[0].result}, not asked before"]
    assert differences(without, BEFORE, whole=False) == []


def test_a_record_of_another_device_says_nothing_here() -> None:
    gpu = BEFORE.model_copy(update={"device": BEFORE.device.model_copy(update={"kind": "cuda"})})
    with pytest.raises(BadInput, match="a record of the cuda device"):
        differences(BEFORE, gpu)
