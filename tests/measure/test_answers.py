"""What a session saw of every timed call, as findings: wrong as drawn is proved, wrong for mixed contents nothing."""

from __future__ import annotations

from typing import Any

import pytest

from audit.measure import checks, outputs
from audit.measure.outputs import every_call
from audit.measure.samples import OURS, SEEN
from audit.model import Finding, Measurement
from audit.probes.concluding.answer import finding

ABOUT = {"mixed": True, "told_apart": 1.0, "slack": 4.0, "need": 1e-7}
RIGHT = {"calls": [{"block": 0, "right": True}] * 2}
WRONG = {"calls": [{"block": 0, "right": True}, {"block": 1, "right": False, "why": "no tensor"}]}
KEPT = finding("timed_outputs", "claimed", RIGHT, outputs.conclude)
SEEN_WRONG = {"block": 3, "drawn": True, "elements_wrong": 7, "elements": 16}


def answered(name: str, *, wrong: int = 0, drawn_wrong: int = 0, first: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"answered": name, "calls": 90, "wrong": wrong, "drawn": 30, "drawn_wrong": drawn_wrong, "first": first}


def told(*rows: dict[str, Any], kept: tuple[Finding, ...] = (KEPT,), **about: Any) -> dict[str, Finding]:
    return {one.target: one for one in every_call([{"contents": {**ABOUT, **about}}, *rows], kept)}


def test_right_in_every_call() -> None:
    found = told(answered("claimed"))["claimed"]
    assert found.outcome == "pass"
    text = "right in 2 timed calls chosen at random; right in each of 90 timed calls, for contents of its own"
    assert found.summary == text
    assert found.evidence["calls"] == RIGHT["calls"]
    every = found.evidence["every_call"]
    assert isinstance(every, dict)
    assert (every["calls"], every["wrong"]) == (90, 0)


def test_wrong_for_contents_as_drawn_is_proved() -> None:
    found = told(answered("claimed", wrong=40, drawn_wrong=9, first=SEEN_WRONG))["claimed"]
    assert (found.outcome, found.grade) == ("fail", "proved")
    assert "wrong in 40 of 90 timed calls" in found.summary
    assert "in block 3: 7 of 16 elements wrong" in found.summary


def test_wrong_for_mixed_contents_alone_concludes_nothing() -> None:
    first = {"block": 1, "drawn": False, "why": "returned no tensor but NoneType"}
    found = told(answered("claimed", wrong=4, first=first))["claimed"]
    assert (found.outcome, found.grade) == ("error", None)
    assert "returned no tensor but NoneType" in found.summary
    assert "so nothing is concluded" in found.summary


def test_what_the_oracle_found_wrong_stays() -> None:
    kept = finding("timed_outputs", "claimed", WRONG, outputs.conclude)
    found = told(answered("claimed"), kept=(kept,))["claimed"]
    assert (found.outcome, found.grade, found.summary) == (kept.outcome, kept.grade, kept.summary)
    assert found.summary == "wrong in 1 of 2 timed calls chosen at random; in block 1: no tensor"


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [answered("claimed", wrong=40, drawn_wrong=9, first=SEEN_WRONG), answered("baseline:eager", wrong=1)],
    ],
)
def test_without_a_sound_comparison_the_kept_outputs_speak_alone(rows: list[dict[str, Any]]) -> None:
    assert told(*rows) == {"claimed": KEPT}
    assert every_call(rows, [KEPT]) == [KEPT]


@pytest.mark.parametrize("apart", [None, 0.0])
def test_contents_that_tell_nothing_apart_are_said_to(apart: float | None) -> None:
    assert "a kept one is not told" in told(answered("claimed"), told_apart=apart)["claimed"].summary


def test_others_findings_stay_beside() -> None:
    other = KEPT.model_copy(update={"target": "later"})
    found = told(answered("claimed"), kept=(KEPT, other))
    assert found["later"] == other


def measured(new: float, seen: float) -> Finding | None:
    both = ((OURS, new), (SEEN, seen))
    own = [Measurement(variant="claimed", shape={"N": 4}, protocol=protocol, samples_ms=(ms,)) for protocol, ms in both]
    return checks.by_contents(own, "claimed")


def test_results_kept_by_content_are_told_by_their_time() -> None:
    found = measured(1.0, 0.1)
    assert found is not None
    assert (found.outcome, found.grade, found.probe) == ("fail", "hint", "kept_by_content")
    assert "seen" not in found.summary
    assert "contents that came right before take 0.1 ms, new ones 1 ms" in found.summary


@pytest.mark.parametrize(("new", "seen"), [(1.0, 0.95), (1.0, 1.2), (0.012, 0.005)])
def test_times_that_are_much_the_same_tell_nothing(new: float, seen: float) -> None:
    assert measured(new, seen) is None
