"""What many calls of one process are held to, and which contents are left to another question."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.model import Tolerance
from audit.probes import repeat
from audit.probes.concluding.answer import ask
from audit.probes.observing.battery import AFTER, REPEAT, at_middle
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target

CASE = Case({"N": 1}, Path("0.inputs.pt"), np.array([2.0]), "float32")
OTHER = Case({"N": 1}, Path("0.uniform.inputs.pt"), np.array([4.0]), "float32")


class Answer(Call):
    """A call that returned this number."""

    def values(self) -> Any:
        return np.array([self.event["value"]])


def asked(name: str, case: Case, value: float, group: str = "") -> tuple[str, Asked]:
    event = {
        "value": value,
        "digest": str(value),
        "dtype": "float32",
        "shape": [1],
        "differing": [],
    }
    return name, Asked(name, case, Answer(event, Path("0.bin")), group, (0, 1, 0))


def stub(**more: Any) -> Target:
    """A target that compares; it makes no calls but those in `more`."""
    target = SimpleNamespace(
        tolerance=Tolerance(relative=1e-4, reason="a test"),
        cases=(CASE,),
        variant=SimpleNamespace(name="claimed"),
        built=SimpleNamespace(tensor_device="cuda"),
        _compared={},
        is_reference=False,
        **more,
    )
    target.compared_within = lambda *given, **more: Target.compared_within(cast(Target, target), *given, **more)
    target.compared = lambda *given, **more: Target.compared(cast(Target, target), *given, **more)
    return cast(Target, target)


@pytest.mark.parametrize(
    ("alone", "repeated", "later", "outcome"),
    [
        (4.0, 4.0, 2.0, "pass"),
        (4.0, 4.1, 2.0, "fail"),  # right alone, wrong behind other calls
        (4.1, 4.1, 2.0, "pass"),  # wrong alone too: a question of distributions
        (4.1, 4.1, 2.1, "fail"),
    ],
)
def test_contents_that_were_wrong_alone_say_nothing_of_repeating(
    monkeypatch: pytest.MonkeyPatch, alone: float, repeated: float, later: float, outcome: str
) -> None:
    calls = dict(
        [
            asked("first", CASE, 2.0),
            asked("uniform", OTHER, alone, "distributions"),
            asked(REPEAT, CASE, 2.0),
            asked(f"{REPEAT}_1", OTHER, repeated),
            asked(f"{AFTER}_0", CASE, later),
        ]
    )
    monkeypatch.setattr(repeat, "at_middle", lambda _: calls)
    monkeypatch.setattr(repeat, "at_largest", lambda _: calls)
    found = ask(repeat, stub())
    assert found.outcome == outcome, found.summary


def test_what_the_last_call_returns_for_contents_that_were_wrong_alone_says_nothing_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = [asked("uniform", OTHER, 4.1, "distributions"), asked(REPEAT, OTHER, 4.1)]
    calls = dict([asked("first", CASE, 2.0), *wrong, asked(f"{AFTER}_0", CASE, 2.0)])
    monkeypatch.setattr(repeat, "at_middle", lambda _: calls)
    monkeypatch.setattr(repeat, "at_largest", lambda _: calls)
    assert ask(repeat, stub()).outcome == "pass"


@pytest.mark.parametrize(("elsewhere", "outcome"), [(2.0, "fail"), (3.0, "skip")])
def test_first_call_that_is_right_in_another_process_alone_is_wrong(
    monkeypatch: pytest.MonkeyPatch, elsewhere: float, outcome: str
) -> None:
    calls = dict([asked("first", CASE, 3.0)])
    monkeypatch.setattr(repeat, "at_middle", lambda _: calls)
    monkeypatch.setattr(repeat, "at_largest", lambda _: calls)
    monkeypatch.setattr(repeat, "undefined_beside", lambda *_: None)
    _, plain = asked("plain", CASE, elsewhere)
    target = stub(call=lambda *_: plain.call, plain=None)
    found = ask(repeat, target)
    assert found.outcome == outcome, found.summary
    assert ("of one process is right, that of another process" in found.summary) is (outcome == "fail")


def test_a_plain_call_that_raises_ends_the_calls_behind_it_with_its_words() -> None:
    raised = Answer({"raised": "RuntimeError: too much shared memory"}, Path("0.bin"))
    target = stub(middle=CASE, plain=None, call=lambda *_: raised, once=lambda _, make: make())
    with pytest.raises(SessionBroken, match="the call raised RuntimeError: too much shared memory"):
        at_middle(target)
