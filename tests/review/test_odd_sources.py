"""No source makes a rule crash, and every line it points at exists."""

from __future__ import annotations

from audit.review import hints
from audit.review.hints import Source, reviewed
from tests.conftest import some
from tests.review import odd_sources


def test_a_thousand_sources_are_tried() -> None:
    assert len({*odd_sources.cuda(), *odd_sources.python()}) > 1000


def test_cuda_rules_never_crash() -> None:
    for text in some(odd_sources.cuda()):
        last = text.count("\n") + 1
        found = hints.of_cuda(text)
        assert all(0 < hint.spot.line <= last for hint in found), text[:200]


def test_python_rules_never_crash() -> None:
    parsed = 0
    for text in odd_sources.python():
        last = text.count("\n") + text.count("\r") + 1
        findings = reviewed(Source(text, target="odd", python=True))
        parsed += findings[0].outcome != "skip"
        lines = [finding.line for finding in findings if finding.line is not None]
        assert all(0 < line <= last for line in lines), text[:200]
    assert parsed > 100, "too few of the sources are still Python for this test to mean anything"


def test_a_spoiled_source_still_has_a_finding_for_launch_geometry() -> None:
    for text in some(list(odd_sources.cuda())[::20]):
        assert [finding.probe for finding in reviewed(Source(text, target="odd"))].count("launch_geometry") == 1
