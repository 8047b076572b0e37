"""What a failure at a shape says about the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from audit.claims.shapes.counting import Scope
from audit.model import Finding, Harness, Shape
from audit.model.errors import Unsupported
from audit.probes import contract
from audit.probes.concluding import answer
from audit.probes.concluding.answer import Answer, Observed, failed, passed
from audit.probes.memory_access import smaller
from audit.probes.observing import claimed_shape
from audit.probes.observing.called import Call, Mode, SessionBroken, value_calls
from audit.probes.observing.cases import MOST_MIDDLE_BYTES, Case, middle_of
from audit.probes.observing.target import Target


def case(size: int, scope: Scope) -> Case:
    return Case({"N": size}, Path("x"), np.zeros(1), "float32", scope=scope)


def target(*cases: Case) -> Target:
    return cast(Target, SimpleNamespace(variant=SimpleNamespace(name="claimed"), cases=cases, built=None))


class Question:
    """A probe that sees what it is given, and concludes what it is given."""

    NAME = "order"

    def __init__(self, seen: Observed, concluded: Answer) -> None:
        self.seen, self.concluded = seen, concluded

    def observe(self, _: Target, /) -> Observed:
        return self.seen

    def conclude(self, _: Observed, /) -> Answer:
        return self.concluded


def asked(of: Target, concluded: Answer, **seen: object) -> Finding:
    """The finding of such a probe; what follows from its record is the same."""
    question = Question(seen, concluded)
    found = answer.ask(question, of)
    assert answer.finding("order", "claimed", found.evidence, question.conclude) == found
    return found


@pytest.mark.parametrize("scope", ["claimed", "stated", "kept"])
def test_a_failure_at_a_shape_that_counts_is_one_of_the_claim(scope: Scope) -> None:
    found = asked(target(case(4, scope)), failed("wrong"), shape={"N": 4})
    assert (found.shape, found.claimed, found.fails_kernel, found.summary) == ({"N": 4}, True, True, "wrong")


def test_a_failure_at_another_shape_is_none_of_the_claim_and_says_so() -> None:
    found = asked(target(case(4, "other")), failed("N=4: wrong"), shape={"N": 4})
    assert (found.shape, found.grade, found.claimed, found.fails_kernel) == ({"N": 4}, "proved", False, False)
    assert found.summary == f"N=4: wrong; the kit chose this size, and this probe asked {answer.AT_NONE}"
    older = {name: value for name, value in found.evidence.items() if name != answer.CHOSEN}
    words = answer.finding("order", "claimed", older, lambda _: failed("N=4: wrong")).summary
    end = "the claim does not speak of this shape, and this probe asked at none that it speaks of"
    assert words == f"N=4: wrong; {end}"
    older = {name: value for name, value in older.items() if name != answer.OF_PROBE}
    words = answer.finding("order", "claimed", older, lambda _: failed("N=4: wrong")).summary
    assert words == "N=4: wrong; the claim does not speak of this shape, and none that it speaks of was asked"


def test_an_answer_that_is_none_of_the_claim_by_itself_says_so_once() -> None:
    found = asked(
        target(case(4, "other")), failed("wrong; none of these is claimed")._replace(claimed=False), shape={"N": 4}
    )
    assert (found.claimed, found.summary) == (False, "wrong; none of these is claimed")


def test_beside_shapes_that_count_the_others_are_told_apart() -> None:
    both = target(case(4, "other"), case(8, "kept"))
    found = asked(both, failed("N=4: 3 of 4 elements wrong", shape={"N": 4}))
    assert not found.claimed
    assert found.summary == (
        "right at the claimed shapes as far as asked; wrong at N=4: 3 of 4 elements wrong; that shape is not claimed"
    )
    assert asked(both, failed("wrong", shape={"N": 8})).fails_kernel


def test_one_call_is_asked_at_a_shape_that_counts_where_there_is_one(tmp_path: Path) -> None:
    scopes: tuple[tuple[int, Scope], ...] = ((4, "other"), (8, "kept"), (16, "claimed"))
    small, kept, claimed = (replace(case(*one), inputs=tmp_path / "0.inputs.pt") for one in scopes)
    claimed.inputs.write_bytes(b"0" * 100)
    assert middle_of((small, kept, claimed)) == claimed
    with claimed.inputs.open("wb") as file:
        file.truncate(MOST_MIDDLE_BYTES)
    assert middle_of((small, kept, claimed)) == kept, "many questions are asked there, and its arrays are smaller"
    assert smaller(target(small, kept, claimed)) == kept
    assert middle_of((small,)) == small


def test_what_has_nothing_to_do_with_sizes_counts_at_any_shape() -> None:
    found = asked(target(case(4, "other")), failed("wrong", shape={"N": 4}, anywhere=True))
    assert (found.shape, found.claimed, found.summary) == ({"N": 4}, True, "wrong")


def test_a_pass_names_no_shape() -> None:
    found = asked(target(case(4, "other")), passed("right"), shape={"N": 4})
    assert (found.shape, found.claimed, found.summary) == (None, True, "right")


def test_what_was_not_asked_is_skipped_without_a_conclusion() -> None:
    seen = {"shape": {"N": 4}, "not_asked": "first_wrong"}
    found = asked(target(case(4, "claimed")), failed("never read"), **seen)
    text = "not asked: N=4: the first call is already wrong; see agreement"
    assert (found.outcome, found.summary, found.grade, found.shape) == ("skip", text, None, None)


class Answering:
    """A target whose calls are given."""

    def __init__(self, *found: tuple[Case, dict[str, object]]) -> None:
        self.cases = tuple(case for case, _ in found)
        self.made = [Call(event, Path("x")) for _, event in found]
        self.variant = SimpleNamespace(name="claimed")
        self.built = SimpleNamespace(tensor_device="cpu")
        self.claim = SimpleNamespace(harness=Harness(), shapes=SimpleNamespace(claimed={"N": 128}, module=()))
        self.is_reference = False

    plain = Mode("poison_nan")

    def calls(self, cases: Sequence[Case], mode: Mode) -> list[Call]:
        assert (tuple(cases), mode) == (self.cases, self.plain)
        return self.made


LAUNCH: dict[str, object] = {"kernel": "k", "line": 7, "grid": [0, 1, 1], "refused": "grid (0, 1, 1) has no blocks"}
EMPTY: dict[str, object] = {
    "launches": [LAUNCH],
    "returned": "Tensor",
    "dtype": "float32",
    "shape": [1],
    "device": "cpu",
    "aliases": [],
}
RAISED: dict[str, object] = {"launches": [], "raised": "RuntimeError: N must be a multiple of 128"}
GOOD: dict[str, object] = {**EMPTY, "launches": []}


@pytest.mark.parametrize("scope", ["kept", "other"])
def test_a_launch_without_blocks_makes_a_shape_that_nobody_named_unusable(scope: Scope) -> None:
    found = answer.ask(contract, cast(Target, Answering((case(4, scope), EMPTY), (case(8, "kept"), GOOD))))
    assert (found.outcome, found.evidence["calls"], found.evidence["answered"]) == ("pass", 1, [1])
    alone = answer.ask(contract, cast(Target, Answering((case(4, scope), EMPTY))))
    assert (alone.outcome, alone.evidence["answered"]) == ("skip", [])
    assert "N=4, which the claim does not name, makes a launch without blocks" in alone.summary


@pytest.mark.parametrize("scope", ["claimed", "stated"])
def test_a_launch_without_blocks_is_a_failure_where_the_claim_names_the_shape(scope: Scope) -> None:
    found = answer.ask(contract, cast(Target, Answering((case(4, scope), EMPTY))))
    assert (found.outcome, found.fails_kernel, found.shape, found.line) == ("fail", True, {"N": 4}, 7)


def test_a_refusal_is_an_error_where_the_shape_counts_and_no_use_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def needed(_: Target) -> Shape:
        raise Unsupported("launches at the claimed shape")

    monkeypatch.setattr(claimed_shape, "needed", needed)
    assert answer.ask(contract, cast(Target, Answering((case(4, "kept"), RAISED)))).outcome == "error"
    found = answer.ask(contract, cast(Target, Answering((case(4, "other"), RAISED))))
    assert found.outcome == "skip"
    assert "is refused: RuntimeError: N must be a multiple of 128" in found.summary


@pytest.mark.parametrize(("got", "said"), [([2, 3], "a tensor of shape [2, 3]"), (None, "no tensor")])
def test_a_result_of_another_shape_is_told_with_both(got: list[int] | None, said: str) -> None:
    with pytest.raises(SessionBroken) as broken:
        value_calls([Call({"shape": got}, Path("x"))], [np.zeros((2, 4))])
    assert str(broken.value) == f"the call returned {said}, where [2, 4] is right; see contract, repeat"


def test_a_tuple_that_changes_its_length_is_one_sentence() -> None:
    each = [{"shape": [4], "dtype": "float32"}] * 3
    later = Call({"returned": "3 tensors", "shape": [12], "dtype": "float32", "outputs": each}, Path("x"))
    with pytest.raises(SessionBroken) as broken:
        value_calls([later], [np.zeros(8)])
    said = "the call returned 3 tensors of 12 elements in all, where the right result has 8; see contract, repeat"
    assert str(broken.value) == said
