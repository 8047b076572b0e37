"""What a probe may turn into, and when a second build or the task's own reference takes a failure back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit import claims
from audit.build.device import BuiltVariant
from audit.model import Finding, Tolerance
from audit.model.errors import CompileError, Unsupported
from audit.probes import OF_THE_CLAIM, PROBES
from audit.probes.concluding.answer import NOT_CONCLUDED, Answer, Observed
from audit.probes.observing import own_reference, runner
from audit.probes.observing.called import SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.references import References
from audit.probes.observing.target import Target
from audit.run.processes.pool import Workers
from tests.conftest import finding

CLAIM = claims.load("triangular_mm").claim
CLAIMED = CLAIM.claimed
assert CLAIMED is not None
FACTS = {
    "checks_accesses": True,
    "limit_s": 60.0,
    "nan_memory": "poison_nan",
    "orders": ("forward", "reverse"),
    "poisons": {"poison_nan": b"nan!", "poison_number": b"big!"},
    "tensor_device": "cpu",
    "traced_memory": "poison_nan",
}
BUILT = cast(BuiltVariant, SimpleNamespace(**FACTS))


class Asked(Target):
    """A target without processes."""

    def _ask(self, *_: Any, **__: Any) -> Any:
        raise SessionBroken("no process")


CASE = Case({"N": 2}, Path("0.inputs.pt"), np.ones(2), "float32")
TARGET = Asked(CLAIM, CLAIMED, BUILT, (CASE,), cast(Workers, None), Path("reference.py"), Path())
OTHER = replace(TARGET)


class Told:
    """A probe that observes an answer."""

    def __init__(self, answer: Callable[[Target], Finding], name: str = "order") -> None:
        self.NAME, self._answer = name, answer

    def observe(self, target: Target) -> Observed:
        found = self._answer(target)
        return {**found.evidence, **found.model_dump(include={"outcome", "grade", "summary"})}

    def conclude(self, seen: Observed) -> Answer:
        return Answer(seen["outcome"], seen["summary"], seen["grade"])


def stands(question: Target) -> Finding:
    return finding("order", "pass" if question.is_reference else "fail")


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

    monkeypatch.setitem(PROBES, "order", Told(broken))
    got = runner.ask("order", TARGET)
    assert (got.outcome, got.grade) == (outcome, None)
    assert words in got.summary


def answers(monkeypatch: Any, first: str, second: str) -> Finding:
    replies = {id(TARGET): finding("order", first), id(OTHER): finding("order", second)}
    monkeypatch.setitem(PROBES, "order", Told(lambda target: replies.get(id(target), finding("order"))))
    return runner.ask("order", TARGET, second=lambda: OTHER)


def test_a_proved_failure_seen_again_is_confirmed(monkeypatch: Any) -> None:
    got = answers(monkeypatch, "fail", "fail")
    assert got.fails_kernel
    assert got.confirmed


def test_a_failure_not_seen_again_fails_no_kernel(monkeypatch: Any) -> None:
    got = answers(monkeypatch, "fail", "pass")
    assert (got.outcome, got.grade, got.confirmed) == ("error", None, False)
    assert "nothing is concluded" in got.summary


def test_a_second_build_that_does_not_compile_fails_no_kernel(monkeypatch: Any) -> None:
    def second() -> Target:
        raise CompileError("error: out of memory", header_set="micro")

    monkeypatch.setitem(PROBES, "order", Told(stands))
    assert runner.ask("order", TARGET, second=second).outcome == "error"


def test_a_pass_is_not_asked_twice(monkeypatch: Any) -> None:
    assert answers(monkeypatch, "pass", "fail").outcome == "pass"


def test_a_call_that_does_not_come_back_is_told_once(monkeypatch: Any) -> None:
    asked = []
    for probe in PROBES:
        outcome = "error" if probe == "contract" else "pass"
        answer = partial(lambda p, o, _: asked.append(p) or finding(p, o), probe, outcome)
        monkeypatch.setitem(PROBES, probe, Told(answer, probe))
    got = {one.probe: one for one in runner.ask_all(TARGET)}
    assert asked == ["contract"]
    assert set(got) == {*PROBES, *OF_THE_CLAIM}
    assert {one.outcome for one in got.values()} == {"error"}
    assert "not asked" in got["order"].summary


def test_launches_and_blocks_of_the_claimed_shape_are_asked_for_where_no_shape_is_of_use(monkeypatch: Any) -> None:
    asked = ("claimed_launches", "claimed_blocks")

    def answered(probe: str, target: Target) -> Finding:
        assert target.cases == ()
        return finding(probe, "fail")

    without = Finding.model_validate({**finding("contract", "skip").model_dump(), "evidence": {"answered": []}})
    monkeypatch.setitem(PROBES, "contract", Told(lambda _: without, "contract"))
    for probe in asked:
        monkeypatch.setitem(PROBES, probe, Told(partial(answered, probe), probe))
    got = {one.probe: one.outcome for one in runner.ask_all(TARGET)}
    assert {probe for probe, outcome in got.items() if outcome == "fail"} == {*asked}
    assert got["order"] == "skip"


@pytest.mark.parametrize("role", ["claimed", "repair", "known_bad", "known_good"])
def test_some_questions_are_asked_of_the_claim_alone(monkeypatch: Any, role: str) -> None:
    for table in (PROBES, OF_THE_CLAIM):
        for probe in table:
            monkeypatch.setitem(table, probe, Told(partial(lambda p, _: finding(p), probe), probe))
    target = replace(TARGET, variant=TARGET.variant.model_copy(update={"role": role}))
    got = [one.probe for one in runner.ask_all(target)]
    assert sorted(got) == sorted([*PROBES, *(OF_THE_CLAIM if role == "claimed" else ())])


OWN = {
    "pass": finding("order"),
    "hint": finding("order", "fail", grade="hint"),
    "fail": finding("order", "fail"),
    "skip": finding("order", "skip"),
    "error": finding("order", "error"),
}
"""What the reference may answer, and whether a failure of the kernel then counts."""


@pytest.mark.parametrize("own", OWN)
def test_a_failure_counts_only_where_the_reference_stands_the_probe(monkeypatch: Any, own: str) -> None:
    target = replace(TARGET, references=References())
    monkeypatch.setitem(PROBES, "order", Told(lambda one: OWN[own] if one.is_reference else finding("order", "fail")))
    got = runner.ask("order", target)
    assert got.fails_kernel == (own in ("pass", "hint"))
    if not got.fails_kernel:
        assert (got.outcome, got.grade) == ("error", None)
        assert f"order fail - {own_reference.FAILS} in order: " in got.summary
        assert f"order {own}" in got.summary
        key = "harness" if own == "error" else "tolerance.relative"
        assert got.summary.endswith(f"correct {key} in claim.toml; nothing is concluded")
        assert str(got.evidence[NOT_CONCLUDED]) in got.summary


def test_the_reference_is_not_asked_about_what_passes_or_proves_nothing(monkeypatch: Any) -> None:
    asked: list[bool] = []
    for found in (finding("order"), finding("order", "fail", grade="undefined"), finding("order", "skip")):
        answer = partial(lambda f, one: asked.append(one.is_reference) or f, found)
        monkeypatch.setitem(PROBES, "order", Told(answer))
        got = runner.ask("order", replace(TARGET, references=References()))
        assert (got.outcome, got.grade, got.summary) == (found.outcome, found.grade, found.summary)
    assert asked == [False] * 3


def test_a_reference_that_fails_at_a_shape_outside_the_claim_does_not_stand() -> None:
    assert not own_reference.stands(finding("order", "fail", claimed=False))
    assert own_reference.stands(finding("order", "fail", grade="undefined"))


@pytest.mark.parametrize("evidence", [{"elements_wrong": 3}, {"claim_first": {"elements_wrong": 3}}])
def test_the_reference_is_asked_about_undefined_behaviour_that_wrong_values_show(
    monkeypatch: Any, evidence: dict[str, Any]
) -> None:
    shown = finding("order", "fail", grade="undefined").model_copy(update={"evidence": evidence})
    monkeypatch.setitem(PROBES, "order", Told(lambda one: OWN["fail"] if one.is_reference else shown))
    assert runner.ask("order", replace(TARGET, references=References())).outcome == "error"
    monkeypatch.setitem(PROBES, "order", Told(lambda one: OWN["pass"] if one.is_reference else shown))
    assert runner.ask("order", replace(TARGET, references=References())).grade == "undefined"


def test_the_reference_answers_once_for_all_that_are_held_to_the_same(monkeypatch: Any) -> None:
    asked: list[float] = []

    def probe(target: Target) -> Finding:
        asked.extend([target.tolerance.relative] * target.is_reference)
        return stands(target)

    monkeypatch.setitem(PROBES, "order", Told(probe))
    references = References()
    wide = CLAIMED.model_copy(update={"tolerance": Tolerance(relative=0.5, reason="another precision")})
    for variant in (CLAIMED, CLAIMED.model_copy(update={"file": "other.cu"}), wide, wide):
        assert runner.ask("order", replace(TARGET, variant=variant, references=references)).fails_kernel
    assert asked == [CLAIM.tolerance.relative, 0.5]


@pytest.mark.parametrize("probe", own_reference.NOT_ASKED)
def test_what_stands_in_the_kernels_source_needs_no_reference(monkeypatch: Any, probe: str) -> None:
    def only_about_the_kernel(target: Target) -> Finding:
        assert not target.is_reference
        return finding(probe, "fail")

    monkeypatch.setitem(PROBES, probe, Told(only_about_the_kernel, probe))
    assert runner.ask(probe, replace(TARGET, references=References())).fails_kernel


def test_a_probe_that_breaks_on_the_reference_concludes_nothing(monkeypatch: Any) -> None:
    def probe(target: Target) -> Finding:
        if target.is_reference:
            raise SessionBroken("crashed after 0 of 1 calls: the process died of SIGSEGV")
        return finding("order", "fail")

    monkeypatch.setitem(PROBES, "order", Told(probe))
    got = runner.ask("order", replace(TARGET, references=References()))
    assert got.outcome == "error"
    assert "no answer (error: crashed after 0 of 1 calls" in got.summary


def test_a_second_build_is_not_made_where_the_reference_fails(monkeypatch: Any) -> None:
    monkeypatch.setitem(PROBES, "order", Told(lambda _: finding("order", "fail")))
    second = pytest.fail
    assert runner.ask("order", replace(TARGET, references=References()), second=second).outcome == "error"
