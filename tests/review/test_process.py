"""Sources are reviewed in a process of its own; one that ends it gives an error, and the others are answered."""

from __future__ import annotations

from audit.review import hints
from audit.review.hints import Source, reviewed
from tests.conftest import some
from tests.review.sample import SAMPLE

GOOD = Source(SAMPLE, "good", advice=True)


def test_the_findings_are_those_of_the_rules() -> None:
    other = Source("import torch\ndef forward(x):\n  return torch.relu(x)\n", "python", python=True)
    assert hints.findings([GOOD, other]) == [
        reviewed(GOOD),
        reviewed(other),
    ]


def test_a_source_that_ends_the_process_is_an_error_and_the_others_are_answered() -> None:
    broken = Source(None, "broken", python=True)  # type: ignore[arg-type]
    first, second, third = hints.findings([GOOD, broken, GOOD])
    assert first == third == reviewed(GOOD)
    assert [(one.outcome, one.target) for one in second] == [("error", "broken")] * 2
    assert [one.probe for one in second] == ["review", "reach"]
    assert second[0].summary.startswith("the source could not be reviewed: ")


def test_odd_texts_are_answered() -> None:
    texts = ("", "\0", "\ufeffx = 1\r\n", "\r\n", "x = 0x" + "f" * 100_000, "int a = " + "9" * 100_000 + ";", "\ud800")
    sources = [Source(text, "odd", python) for text in texts for python in (False, True)]
    for found in some(hints.findings(sources)):
        assert {one.outcome for one in found} <= {"pass", "skip"}
