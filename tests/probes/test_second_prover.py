"""How an independent prover's answers stand beside what the access checker saw."""

from __future__ import annotations

from audit.build.race_prover import Answer, Proof
from audit.model import Grade
from audit.probes.concluding.behaviour import Behaviour
from audit.probes.memory_access import agreed


def seen(kind: str = "race-shared", grade: Grade = "undefined") -> Behaviour:
    return Behaviour(kind, "two threads", "rows", 7, count=3, proof="access checker", grade=grade)


def proof(answer: Answer, kernel: str = "rows") -> Proof:
    return Proof(kernel, (2, 1, 1), (64, 1, 1), answer, (7, 9))


def test_a_race_both_see_has_both_as_its_proof() -> None:
    (one,) = agreed([seen()], [proof("race")])
    assert (one.proof, one.grade, one.line) == ("access checker, sentryward", "undefined", 7)


def test_what_the_prover_alone_sees_is_a_hint() -> None:
    (one,) = agreed([], [proof("race")])
    assert (one.grade, one.proof, one.line) == ("hint", "sentryward", 7)
    assert "lines 7 and 9" in one.message


def test_other_answers_change_nothing() -> None:
    for answer in ("free of races", "equal writes or a race", "no answer"):
        assert agreed([seen()], [proof(answer)]) == [seen()]


def test_a_race_of_another_kernel_is_not_this_ones() -> None:
    first, other = agreed([seen()], [proof("race", kernel="scale")])
    assert (first, other.kernel, other.grade) == (seen(), "scale", "hint")


def test_it_says_nothing_about_unwritten_values() -> None:
    first, other = agreed([seen("uninitialised-read")], [proof("race")])
    assert (first.proof, other.grade) == ("access checker", "hint")
