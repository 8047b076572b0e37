"""What counts as proved, missed, passed, falsely failed or skipped, and the counts made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.apps.pages.self_test import part, text
from audit.apps.selftest import rates, write
from audit.apps.selftest.command import matrix
from audit.apps.selftest.record import Check, Row, SelfTest
from audit.apps.selftest.score import interval, row, shortfalls, upper_bound
from audit.judge import evidence
from audit.model import Device, Environment, Finding, SandboxLimit
from tests.conftest import finding

FOLDER = claims.load("controls")
VARIANTS = {variant.name: variant for variant in FOLDER.claim.variant}
BAD, KNOWN_GOOD = "order_bad", "order_good"
BUILT = finding("build")


def of(control: str, *findings: Finding) -> Row:
    """The row of that control, with these answers before those of every other probe that must answer."""
    values = {one.probe: one for one in (*(finding(probe) for probe in evidence.CORRECTNESS), BUILT, *findings)}
    own = [one.model_copy(update={"target": control}) for one in values.values()]
    return row("controls", FOLDER, VARIANTS[control], findings=[*own, finding("order", "fail", target="another")])


@pytest.mark.parametrize(
    ("answer", "result", "reason"),
    [
        (finding("order", "fail"), "proved", ""),
        (finding("order", "fail", grade="undefined"), "flagged", "undefined: "),
        (finding("order", "fail", grade="hint"), "flagged", "hint: "),
        (finding("order"), "missed", "order pass"),
        (finding("order", "error"), "missed", "order error"),
        (finding("order", "skip"), "skipped", "order skip"),
        (finding("agreement", "fail"), "missed", "order pass"),
        (finding("build", "skip"), "skipped", "build skip"),
        (finding("build", "error"), "missed", "build error"),
    ],
)
def test_known_bad_controls_are_for_the_probe_made_for_them(answer: Finding, result: str, reason: str) -> None:
    made = of(BAD, answer)
    assert made.result == result
    assert made.reason.startswith(reason)
    assert bool(made.reason) == bool(reason)


def test_a_known_bad_control_that_no_probe_was_asked_about_is_missed() -> None:
    made = row("controls", FOLDER, VARIANTS[BAD], findings=[])
    assert (made.result, made.reason) == ("missed", "order: not asked")


@pytest.mark.parametrize(
    ("answer", "result", "reason"),
    [
        (finding("dead_inputs", "fail"), "proved", ""),
        (finding("memory_access", "fail", grade="undefined"), "flagged", "undefined: memory_access: "),
        (finding("review.fallback", "fail", grade="hint"), "flagged", "hint: review.fallback: "),
        (finding("agreement", "error"), "missed", "agreement: "),
        (BUILT, "missed", "no probe and no rule says anything"),
        (finding("build", "skip"), "skipped", "build skip"),
    ],
)
def test_a_known_bad_control_without_its_own_probe_is_for_all_of_them(
    answer: Finding, result: str, reason: str
) -> None:
    values = {one.probe: one for one in (*(finding(probe) for probe in evidence.CORRECTNESS), BUILT, answer)}
    own = [one.model_copy(update={"target": BAD}) for one in values.values()]
    made = row("controls_blind/a", FOLDER, VARIANTS[BAD].model_copy(update={"probe": None}), findings=own)
    assert made.result == result
    assert made.reason.startswith(reason)


@pytest.mark.parametrize(
    ("events", "trials", "bound"), [(0, 47, 0.0617), (0, 1, 0.95), (1, 20, 0.2161), (3, 3, 1.0), (0, 0, 1.0)]
)
def test_the_bound_is_that_of_clopper_and_pearson(events: int, trials: int, bound: float) -> None:
    assert upper_bound(events, trials) == pytest.approx(bound, abs=2e-4)


@pytest.mark.parametrize(
    ("answer", "result", "reason"),
    [
        (BUILT, "passed", ""),
        (finding("launch_geometry", "fail", grade="hint"), "passed", ""),
        (finding("memory_access", "skip"), "passed", ""),
        (finding("coverage", "fail"), "falsely failed", "coverage: "),
        (finding("kernels_ran", "fail"), "falsely failed", "kernels_ran: "),
        (finding("memory_access", "fail", grade="undefined"), "falsely failed", "memory_access: "),
        (finding("coverage", "skip"), "no answer", "coverage: "),
        (finding("coverage", "error"), "no answer", "coverage: "),
        (finding("kernels_ran", "error"), "no answer", "kernels_ran: "),
        (finding("build", "error"), "no answer", "build: "),
        (finding("build", "skip"), "skipped", "build skip"),
    ],
)
def test_known_good_controls_must_pass_everything(answer: Finding, result: str, reason: str) -> None:
    made = of(KNOWN_GOOD, answer)
    assert made.result == result
    assert made.reason.startswith(reason)
    assert bool(made.reason) == bool(reason)


def scored(rows: list[Row], *, found: str = "passed") -> SelfTest:
    checks = (
        Check(control="triangular_mm/claimed", expected="failed", found="failed"),
        Check(control="triangular_mm/fixed_grid2d", expected="passed", found=found),
    )
    return SelfTest(
        device=Device(kind="emulated", name="emulated device", compute_capability=75, note="no times"),
        environment=Environment(
            kit="0", started_utc="2026-11-21T00:00:00+00:00", machine="m", system="s", python="3.11", packages={}
        ),
        seconds=1.0,
        checks=checks,
        rows=tuple(rows),
    )


CAUGHT = of(BAD, finding("order", "fail"))
MISSED = of(BAD)
SKIPPED = of(BAD, finding("order", "skip"))
FLAGGED = of(BAD, finding("order", "fail", grade="undefined"))
PASSED = of(KNOWN_GOOD)
HINTED = of(KNOWN_GOOD, finding("launch_geometry", "fail", grade="hint"))
FALSELY_FAILED = of(KNOWN_GOOD, finding("coverage", "fail"))
UNCLEAR = of(KNOWN_GOOD, finding("coverage", "error"))


def test_the_rates_leave_out_what_does_not_exist_here() -> None:
    known = rates([CAUGHT, MISSED, SKIPPED, FLAGGED, PASSED, HINTED, FALSELY_FAILED, UNCLEAR])
    assert (known.known_bad, known.proved, known.flagged, known.caught) == (3, 1, 1, 2)
    assert (known.known_good, known.passed, known.falsely_failed, known.hinted) == (4, 2, 1, 1)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([CAUGHT, PASSED], []),
        ([*[CAUGHT] * 9, MISSED, PASSED], []),
        ([*[CAUGHT] * 8, MISSED, PASSED], ["8 of 9 known-bad controls caught"]),
        ([CAUGHT, FALSELY_FAILED], ["1 of 1 known-good controls falsely failed"]),
        ([CAUGHT, UNCLEAR, PASSED], ["1 of 2 known-good controls without an answer"]),
    ],
)
def test_what_falls_short_is_a_sentence(rows: list[Row], words: list[str]) -> None:
    result = shortfalls(scored(rows))
    assert len(result) == len(words)
    assert all(said.startswith(word) for said, word in zip(result, words, strict=True))


def test_nothing_counts_where_a_control_beyond_doubt_fails() -> None:
    (result,) = shortfalls(scored([CAUGHT, PASSED], found="failed"))
    assert "must not audit anything: triangular_mm/fixed_grid2d must come out passed, not failed" in result


def test_the_matrix_shows_every_answer_and_says_why() -> None:
    text = matrix(scored([FLAGGED, PASSED, FALSELY_FAILED]))
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("controls/")}
    assert "[u]" in lines["controls/order_bad"]
    assert lines["controls/order_good"].endswith("falsely failed")
    assert "flagged: controls/order_bad: undefined: order fail" in text
    assert "falsely failed: controls/order_good: coverage: coverage fail" in text
    assert "known-bad controls caught by the probe made for them: 1 of 1 (100.0%)" in text
    assert "known-good controls falsely failed: 1 of 2 (50.0%)" in text


OTHER = scored([SKIPPED, FALSELY_FAILED]).model_copy(
    update={"device": Device(kind="cuda", name="GPU", compute_capability=90, note="")}
)


def test_the_rules_of_a_family_share_a_column() -> None:
    hinted = of(KNOWN_GOOD, finding("review"), finding("review.cast_down", "fail", grade="hint"))
    lines = matrix(scored([PASSED, hinted])).splitlines()
    assert sum(line.strip().endswith(" review") for line in lines) == 1
    assert not any("cast_down" in line for line in lines)
    plain, with_hint = (line for line in lines if line.startswith("controls/"))
    assert "h" in with_hint.removeprefix("controls/order_good").removesuffix("passed")
    assert "h" not in plain.removeprefix("controls/order_good").removesuffix("passed")


def test_the_readme_part_has_the_rates_of_each_device_and_the_walls_that_stood(tmp_path: Path) -> None:
    one = scored([CAUGHT, MISSED, PASSED])
    walls = (SandboxLimit(name="files", up=True), SandboxLimit(name="network", up=False, why="w"))
    write(one, tmp_path / "emulated.json")
    walled = one.model_copy(update={"environment": one.environment.model_copy(update={"sandbox": walls})})
    write(walled, tmp_path / "later.json")
    sentence = (
        "- emulated device, kit 0: 1 of 2 known-bad controls caught by the probe made for them, 1 proved; "
        "0 of 1 known-good controls falsely failed"
    )
    before, after = part(tmp_path).splitlines()
    short = "; short of the aim, so that its answers alone are not to be relied on"
    assert before == f"{sentence}; taken before claimed code ran in a sandbox{short}"
    assert after == f"{sentence}; 1 of 2 sandbox limits around claimed code held{short}"
    write(scored([CAUGHT, PASSED]), tmp_path / "later.json")
    assert "short" not in part(tmp_path).splitlines()[1]


def test_the_page_has_a_row_a_probe_and_a_column_a_device() -> None:
    found = text([scored([CAUGHT, MISSED, PASSED]), OTHER])
    assert "| Known-bad controls caught by | emulated device | GPU |" in found
    assert "| `order` | 1 of 2 | skipped |" in found
    assert "| known-good controls passed | 1 of 1 | 0 of 1 |" in found


def test_the_page_lists_each_control_that_is_answered_wrong_with_its_device() -> None:
    found = text([scored([MISSED, PASSED]), OTHER])
    missed = "| `controls/order_bad` | right only after somebody else has computed the same result. |"
    assert found.count(missed) == 1
    assert f"{missed} emulated device | missed |" in found
    assert "| `controls/order_good` | the twin of order\\_bad, right whoever runs first. | GPU | " in found
    assert "order_" not in text([scored([FLAGGED, CAUGHT, PASSED])])


def test_an_interval_holds_its_share() -> None:
    for number, of in ((0, 10), (1, 83), (10, 10)):
        low, high = interval(number, of)
        assert 0 <= low <= number / of <= high <= 1
    assert interval(0, 0) == (0, 1)
