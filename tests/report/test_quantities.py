"""Numbers as printed."""

import pytest

from audit.report import messages


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (4096, "4,096"),
        (0.267, "0.267"),
        (2.8284271, "2.828"),
        (0.06583, "0.06583"),
        (307.98, "308"),
        (102.6, "102.6"),
        (65025.0, "65,025"),
        (1.9e-6, "1.900e-06"),
        (0.0, "0"),
        (9999.9, "10,000"),
        (1000.0, "1,000"),
    ],
)
def test_number(value: float, shown: str) -> None:
    assert messages.number(value) == shown


def test_an_absent_time_is_words_and_never_zero() -> None:
    assert messages.milliseconds(None) == "NOT MEASURED"
    assert messages.milliseconds(0.5) == "0.5 ms"


def test_evidence_of_any_form() -> None:
    assert messages.anything({"index": [1, 0], "got": "nan", "right": False, "expected": None}) == (
        "index [1, 0], got nan, right no"
    )
    assert messages.label("floor_ms") == "floor (ms)"
    assert messages.ratio(150.0, about=True) == "about 150x"
    assert messages.capability(75) == "7.5"
    assert messages.sentence("done.") == messages.sentence("done") == "done."
