"""What the rules say about kernels whose verdict is known: the claim's root cause, and silence about sound ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.review import hints
from audit.review.hints import Source, reviewed

KERNELS = claims.KERNELS
SOUND = sorted(variant.file for variant in claims.load("triangular_mm").claim.variant if variant.role == "repair")
KNOWN_GOOD = sorted(path.name for path in KERNELS.glob("controls/*_good.cu"))
POINTED_AT = {
    "coverage_bad": "launch_geometry",
    "inherited_bad": "unwritten_output",
    "inputs_intact_bad": "writes_input",
    "kernels_ran_bad": "library_call",
    "launch_geometry_bad": "launch_geometry",
    "memory_access_bad": "missing_barrier",
}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_the_root_cause_of_the_triangular_claim() -> None:
    text = text_of(KERNELS / "triangular_mm/claimed.cu")
    (hint,) = [each for each in hints.of_cuda(text) if each.rule.standing == "hint"]
    assert hint.rule.name == "launch_geometry" and hint.rule.confirm_with == "coverage"
    assert "<<<" in text.splitlines()[hint.spot.line - 1]


@pytest.mark.parametrize("file", SOUND)
def test_nothing_is_said_about_the_repaired_kernels(file: str) -> None:
    claim = claims.load("triangular_mm").claim
    variant = next(each for each in claim.variant if each.file == file)
    text = text_of(KERNELS / "triangular_mm" / file)
    findings = reviewed(Source(text, target=variant.name, precision=variant.precision, advice=True))
    allowed = {"review.cast_down"} if file.startswith("wmma_split") else set()  # splits float32 into two halves
    assert {finding.probe for finding in findings if finding.outcome == "fail"} <= allowed


@pytest.mark.parametrize("file", KNOWN_GOOD)
def test_no_hint_about_known_good_controls(file: str) -> None:
    found = hints.of_cuda(text_of(KERNELS / "controls" / file))
    assert [(each.rule.name, each.spot.line) for each in found if each.rule.standing == "hint"] == []


@pytest.mark.parametrize(("bad", "rule"), POINTED_AT.items())
def test_known_bad_controls_whose_defect_the_source_shows(bad: str, rule: str) -> None:
    assert rule in {each.rule.name for each in hints.of_cuda(text_of(KERNELS / f"controls/{bad}.cu"))}
