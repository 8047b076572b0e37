"""What a probe may turn into, and when a second build takes a conviction back."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit.errors import CompileError, Unsupported
from audit.model import Finding
from audit.probes import PROBES, runner
from audit.probes.called import SessionBroken
from audit.probes.target import Target
from tests.conftest import finding

TARGET = cast(Target, SimpleNamespace(variant=SimpleNamespace(name="claimed")))
OTHER = cast(Target, SimpleNamespace(variant=SimpleNamespace(name="claimed")))


@pytest.mark.parametrize(
    ("error", "outcome", "words"),
    [
        (Unsupported("inline assembly", line=7), "skip", "inline assembly"),
        (SessionBroken("crashed after 0 of 1 calls"), "error", "crashed"),
        (KeyError("shape"), "error", "the probe itself failed: KeyError"),
    ],
)
def test_a_probe_without_an_answer(monkeypatch: Any, error: Exception, outcome: str, words: str) -> None:
    def broken(_: Target) -> Finding:
        raise error

    monkeypatch.setitem(PROBES, "order", broken)
    got = runner.ask("order", TARGET)
    assert (got.outcome, got.grade) == (outcome, None)
    assert words in got.summary


def answers(monkeypatch: Any, first: str, second: str) -> Finding:
    replies = {id(TARGET): finding("order", first), id(OTHER): finding("order", second)}
    monkeypatch.setitem(PROBES, "order", lambda target: replies[id(target)])
    return runner.ask("order", TARGET, second=lambda: OTHER)


def test_a_proved_failure_seen_again_is_confirmed(monkeypatch: Any) -> None:
    got = answers(monkeypatch, "fail", "fail")
    assert got.convicts
    assert got.confirmed


def test_a_failure_not_seen_again_convicts_nobody(monkeypatch: Any) -> None:
    got = answers(monkeypatch, "fail", "pass")
    assert (got.outcome, got.grade, got.confirmed) == ("error", None, False)
    assert "nothing is concluded" in got.summary


def test_a_second_build_that_does_not_compile_convicts_nobody(monkeypatch: Any) -> None:
    def second() -> Target:
        raise CompileError("error: out of memory", rung="micro")

    monkeypatch.setitem(PROBES, "order", lambda _: finding("order", "fail"))
    assert runner.ask("order", TARGET, second=second).outcome == "error"


def test_a_pass_is_not_asked_twice(monkeypatch: Any) -> None:
    assert answers(monkeypatch, "pass", "fail").outcome == "pass"


def test_a_call_that_does_not_come_back_is_told_once(monkeypatch: Any) -> None:
    asked = []
    for probe in PROBES:
        outcome = "error" if probe == "contract" else "pass"
        monkeypatch.setitem(PROBES, probe, lambda _, p=probe, o=outcome: asked.append(p) or finding(p, o))
    got = {one.probe: one for one in runner.ask_all(TARGET)}
    assert asked == ["contract"]
    assert set(got) == set(PROBES)
    assert {one.outcome for one in got.values()} == {"error"}
    assert "not asked" in got["order"].summary
