from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import BadInput
from audit.selftest import read
from audit.selftest.against import differences
from audit.selftest.record import SelfTest

BEFORE = read(Path(__file__).resolve().parents[2] / "reports/self_test/emulated.json")


def changed(index: int, **fields: str) -> SelfTest:
    rows = list(BEFORE.rows)
    rows[index] = rows[index].model_copy(update=fields)
    return BEFORE.model_copy(update={"rows": tuple(rows)})


def test_the_same_answers_differ_in_nothing() -> None:
    assert differences(BEFORE, BEFORE) == []


def test_a_control_that_comes_out_otherwise_is_named() -> None:
    index = next(k for k, row in enumerate(BEFORE.rows) if row.result == "convicted")
    (told,) = differences(changed(index, result="missed", reason="it passed"), BEFORE)
    assert told == f"{BEFORE.rows[index].folder}/{BEFORE.rows[index].control}: convicted before, missed now it passed"


def test_what_a_machine_cannot_answer_is_no_difference() -> None:
    assert differences(changed(0, result="skipped", reason="triton is not installed"), BEFORE) == []


def test_a_control_only_one_of_them_asked_is_named() -> None:
    without = BEFORE.model_copy(update={"rows": BEFORE.rows[1:]})
    place = f"{BEFORE.rows[0].folder}/{BEFORE.rows[0].control}"
    assert differences(without, BEFORE) == [f"{place}: {BEFORE.rows[0].result} before, not asked now"]
    assert differences(BEFORE, without) == [f"{place}: {BEFORE.rows[0].result}, not asked before"]


def test_a_record_of_another_device_says_nothing_here() -> None:
    gpu = BEFORE.model_copy(update={"device": BEFORE.device.model_copy(update={"kind": "cuda"})})
    with pytest.raises(BadInput, match="a record of the cuda device"):
        differences(BEFORE, gpu)
