"""Every rule of the judge gives its verdict where its row says so, in order, and the docs print the table of them.

What is said of measured times has tests of its own in `test_judge.py`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pydantic import JsonValue

from audit import judge
from audit.apps.pages import described as pages
from audit.judge import answers, evidence
from audit.model import Finding, Record
from audit.probes import PROBES
from audit.probes.concluding import answer
from audit.probes.concluding.answer import Probe
from audit.probes.observing.target import Target
from tests.conftest import finding

DOCS = (Path(__file__).resolve().parents[2] / "docs/verdicts.md").read_text(encoding="utf-8")
RIGHT = [finding(probe) for probe in evidence.CORRECTNESS]

TASK = finding("task", "fail", target="triangular_mm")
IDLE = finding("kernels_ran", "fail")
REPLACED = finding("untouched_process", "fail")
LATE = finding("late_writes", "fail")
ROUGH = finding("precision", "fail")
RACE = finding("memory_access", "fail", grade="undefined")
UNBUILT = finding("build", "fail")
FLOOR = finding("floor", "fail", target="H100")
ELSEWHERE = finding("agreement", "fail", claimed=False, shape={"N": 3})
NO_REFERENCE = finding("agreement", "error", summary=f"wrong - {evidence.OWN_REFERENCE} in agreement: off by 2")

ROWS: list[tuple[str, list[Finding], str]] = [
    # rule, findings, verdict; each row also holds what every later rule would speak to, so that the order is tested
    ("proved wrong", [*RIGHT[1:], finding("contract", "fail"), UNBUILT, RACE, TASK, ROUGH, IDLE, FLOOR], "wrong"),
    ("proved wrong", [*RIGHT, finding("timed_outputs", "fail"), TASK, IDLE, FLOOR], "wrong"),
    ("proved wrong", [finding("build", "error"), finding("contract", "fail")], "wrong"),
    ("proved wrong", [*RIGHT[1:], finding("contract", "fail"), finding("channel", "error")], "wrong"),
    ("no compiler takes it", [UNBUILT, RACE, TASK, ROUGH, IDLE, FLOOR], "cannot be built"),
    ("undefined behaviour", [*RIGHT[:-1], RACE, TASK, ROUGH, IDLE, FLOOR], "undefined"),
    ("undefined behaviour", [RACE, finding("build", "error"), TASK, ROUGH, IDLE, FLOOR], "undefined"),
    ("undefined behaviour", [*RIGHT[1:], finding("contract", "fail", grade="undefined"), TASK, FLOOR], "undefined"),
    ("memory of another", [*RIGHT, finding("alias", "fail"), TASK, ROUGH, IDLE, FLOOR], "aliased result"),
    ("memory of another", [*RIGHT[1:], finding("alias", "fail"), TASK], "aliased result"),
    ("the task cannot tell", [TASK, ROUGH, LATE, IDLE, FLOOR], "vacuous"),
    ("an answer is missing", [finding("build", "error"), *RIGHT, ROUGH, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT[1:], ROUGH, LATE, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT[1:], finding("contract", "skip"), ROUGH, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT, finding("timed_outputs", "error"), ROUGH, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT, finding("channel", "error"), FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT, NO_REFERENCE, ROUGH, IDLE, FLOOR], "undecided"),
    ("fewer bits than declared", [*RIGHT, ROUGH, REPLACED, LATE, IDLE, FLOOR], "reduced precision"),
    ("the time of something else", [*RIGHT, REPLACED, LATE, IDLE, FLOOR], "mistimed"),
    ("the time of something else", [*RIGHT, LATE, IDLE, FLOOR], "mistimed"),
    ("the time of something else", [*RIGHT, finding("current_stream", "fail"), FLOOR], "mistimed"),
    ("others did the work", [*RIGHT, IDLE, FLOOR], "overstated"),
    ("others did the work", [*RIGHT, finding("late_writes", "fail", grade="hint"), IDLE], "overstated"),
    ("the time of something else", [*RIGHT, FLOOR], "mistimed"),
    ("the time of something else", [*RIGHT[:-1], finding("memory_access", "skip"), FLOOR], "mistimed"),
    ("the time of something else", [*RIGHT, finding("launch_geometry", "fail", grade="hint"), FLOOR], "mistimed"),
    ("the time of something else", [*RIGHT, finding("timed_outputs", "skip"), FLOOR], "mistimed"),
    ("right, without a time", RIGHT, "no defect found"),
    ("right, without a time", [*RIGHT, finding("agreement", "fail", target="no_op")], "no defect found"),
    ("right, without a time", [*RIGHT, ELSEWHERE], "no defect found"),
    ("right, without a time", [*RIGHT, finding("kernels_ran", "fail", grade="hint")], "no defect found"),
    ("right, without a time", [*RIGHT, finding("sweep", "error")], "no defect found"),
    ("right, without a time", [*RIGHT, finding("sweep", "fail", grade="hint", claimed=False)], "no defect found"),
    ("right, without a time", [*RIGHT, FLOOR.model_copy(update={"target": "T4"})], "no defect found"),
]
ABOUT_TIMES = ("the ratio is reached", "against the named baseline alone", "the ratio is not reached")
"""Rules that speak of measured times alone; so does `the ratio stays open`, and of hints."""

RACE_ELSEWHERE = finding(
    "memory_access", "fail", grade="undefined", claimed=False, summary=f"N=3: a race; and {evidence.NONE_CLAIMED}"
)


@pytest.mark.parametrize(("outcome", "expected"), [("pass", "no defect found"), ("skip", "undecided")])
def test_accesses_undefined_elsewhere_block_nothing_where_blocks_of_the_claimed_shape_ran(
    record: Record, outcome: str, expected: str
) -> None:
    others = [one for one in RIGHT if one.probe not in ("memory_access", "claimed_blocks")]
    changed = (*others, RACE_ELSEWHERE, finding("claimed_blocks", outcome))
    verdict = judge.judge(record.model_copy(update={"findings": changed}))
    assert verdict.name == expected
    assert any("a race" in text for text in (*verdict.reasons, *verdict.missing))


def first_rule(record: Record) -> str:
    """The name of the rule that gives the verdict."""
    claimed = record.claim.statement.claimed
    assert claimed is not None
    result = answers.answered(record, claimed)
    return next(rule.name for rule in judge.RULES if rule.holds(result))


@pytest.mark.parametrize(("rule", "findings", "verdict"), ROWS)
def test_rule_gives_its_verdict(record: Record, rule: str, findings: list[Finding], verdict: str) -> None:
    changed = record.model_copy(update={"findings": tuple(findings)})
    assert (first_rule(changed), judge.judge(changed).name) == (rule, verdict)


def test_every_rule_has_a_row_and_gives_only_what_it_says() -> None:
    given = {rule.name: rule.verdict for rule in judge.RULES}
    asked = {rule for rule, _, _ in ROWS} | {*ABOUT_TIMES, "the ratio stays open"}
    assert asked == set(given)
    assert all(verdict == given[rule] for rule, _, verdict in ROWS)


def test_a_hint_that_waits_for_another_device_leaves_the_ratio_open(record: Record) -> None:
    waiting = {"confirm_with": "current_stream", "standing": "hint"}
    hint = finding("review.side_stream", "fail", grade="hint", line=3, evidence=waiting)
    changed = record.model_copy(update={"findings": (*RIGHT, hint, finding("current_stream", "skip"))})
    verdict = judge.judge(changed)
    assert (first_rule(changed), verdict.name) == ("the ratio stays open", "undecided")
    assert verdict.missing[0].startswith("current_stream, skipped here, on line 3")


OF_THEIR_OWN = (evidence.KERNELS, evidence.PRECISION, evidence.REPLACED, *evidence.ESCAPES)
"""Probes that rules of their own speak to."""


@pytest.mark.parametrize("probe", [probe for probe in PROBES if probe not in OF_THEIR_OWN])
def test_any_probe_fails_a_kernel_by_proof_alone_and_blocks_by_an_error(record: Record, probe: str) -> None:
    others = [one for one in RIGHT if one.probe != probe]
    verdicts = {}
    for grade in ("proved", "undefined", "hint"):
        findings = (*others, finding(probe, "fail", grade=grade), FLOOR)
        verdicts[grade] = judge.judge(record.model_copy(update={"findings": findings})).name
    broken = judge.judge(record.model_copy(update={"findings": (*others, finding(probe, "error"), FLOOR)}))
    proved = "aliased result" if probe == evidence.ALIAS else "wrong"
    assert (verdicts["proved"], verdicts["undefined"]) == (proved, "undefined")
    assert verdicts["hint"] in ("undecided", "mistimed")
    assert broken.name == "undecided"
    assert any(probe in text for text in broken.missing)


@pytest.mark.parametrize("probe", evidence.ESCAPES)
def test_unfinished_work_beside_undefined_behaviour_is_that_and_an_error_blocks(record: Record, probe: str) -> None:
    for result, name in (
        (finding(probe, "error"), "undecided"),
        (finding(probe, "fail", grade="undefined"), "undefined"),
    ):
        assert judge.judge(record.model_copy(update={"findings": (*RIGHT, result, FLOOR)})).name == name


@pytest.mark.parametrize("proved", [LATE, IDLE, ROUGH, REPLACED], ids=lambda one: one.probe)
def test_a_proof_stands_beside_what_is_missing(record: Record, proved: Finding) -> None:
    crash = finding("repeat", "error")
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, crash, proved)}))
    assert (verdict.name, verdict.missing) == ("undecided", ("repeat: repeat error",))
    assert verdict.reasons[1:] == (f"proved, whatever is missing: {proved.probe}: {proved.summary}",)


def test_a_task_that_fails_its_own_reference_is_told_first(record: Record) -> None:
    findings = (finding("coverage", "error"), *RIGHT[2:], NO_REFERENCE)
    verdict = judge.judge(record.model_copy(update={"findings": findings}))
    assert verdict.name == "undecided"
    assert evidence.OWN_REFERENCE in verdict.missing[0]
    assert verdict.reasons == (evidence.OWN_REFERENCE,)


def test_what_the_claim_does_not_speak_of_is_told_and_never_fails_it(record: Record) -> None:
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, ELSEWHERE)}))
    assert verdict.result is not None
    assert verdict.result.state == "right"
    assert "not claimed: agreement: agreement fail" in verdict.reasons
    unasked = finding("agreement", "fail", claimed=False, summary=f"N=3: wrong, and {evidence.NONE_CLAIMED}")
    alone = [one for one in RIGHT if one.probe != "agreement"]
    assert judge.judge(record.model_copy(update={"findings": (*alone, unasked)})).name == "undecided"


def wrong(_: answer.Observed) -> answer.Answer:
    return answer.failed("N=3: wrong")


def test_a_probe_that_asked_nothing_the_claim_speaks_of_says_so_in_the_words_the_judge_reads() -> None:
    case = SimpleNamespace(shape={"N": 3}, counts=False, launches=None)
    target = cast(Target, SimpleNamespace(cases=(case,), variant=SimpleNamespace(name="claimed")))
    probe = cast(Probe, SimpleNamespace(NAME="agreement", observe=lambda _: {"shape": {"N": 3}}, conclude=wrong))
    alone = answer.ask(probe, target)
    assert (alone.claimed, answer.AT_NONE in alone.summary) == (False, True)
    assert not evidence._answered(alone)
    target.cases = (case, SimpleNamespace(shape={"N": 4}, counts=True))  # type: ignore[misc, assignment]
    beside = answer.ask(probe, target)
    assert answer.AT_NONE not in beside.summary and evidence._answered(beside)


def test_a_vacuous_task_and_a_wrong_kernel_are_both_answers(record: Record) -> None:
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, finding("repeat", "fail"), TASK)}))
    assert verdict.name == "wrong"
    assert verdict.result is not None and verdict.task is not None and verdict.ratio is not None
    assert (verdict.result.state, verdict.task.state) == ("wrong", "cannot tell")
    assert verdict.ratio.state == "not measured"


def test_a_wrong_kernel_is_told_that_its_task_cannot_tell_either(record: Record) -> None:
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, finding("dead_inputs", "fail"), TASK)}))
    assert verdict.name == "wrong"
    assert verdict.reasons == ("dead_inputs: dead_inputs fail", "task: task fail")


def test_inputs_that_move_nothing_are_the_cause_where_no_ablation_shows_one(record: Record) -> None:
    inputs = [{"input": "input_0_a", "right": False}, {"input": "input_1_b", "right": True}]
    dead = finding("dead_inputs", "fail", evidence={"inputs": inputs})
    changed = record.model_copy(update={"findings": (*RIGHT, dead)})
    assert judge.judge(changed).root_cause == "The result does not follow input 0 (a)."


@pytest.mark.parametrize(
    ("probe", "evidence"),
    [("memory_access", {"kind": "misaligned-access"}), ("contract", {"refused": "the GPU refuses this launch"})],
)
def test_a_kernel_that_did_not_run_to_its_end_explains_all_that_fails(
    record: Record, probe: str, evidence: dict[str, str]
) -> None:
    dead = finding("dead_inputs", "fail", evidence={"inputs": [{"input": "input_0_a", "right": False}]})
    ended = finding(probe, "fail", evidence=evidence)
    others = [one for one in RIGHT if one.probe != probe]
    verdict = judge.judge(record.model_copy(update={"findings": (*others, dead, finding("coverage", "fail"), ended)}))
    assert verdict.reasons == (f"{probe}: {probe} fail; seen too by dead_inputs, coverage",)
    assert verdict.root_cause is None


@pytest.mark.parametrize(("kept", "cause"), [(995, "The result does not follow input 0 (a)."), (58, None)])
def test_an_input_with_which_many_elements_move_is_no_cause(record: Record, kept: int, cause: str | None) -> None:
    row = {"input": "input_0_a", "right": False, "elements_moved": 1000, "elements_dead": kept}
    dead = finding("dead_inputs", "fail", evidence={"inputs": [row]})
    assert judge.judge(record.model_copy(update={"findings": (*RIGHT, dead)})).root_cause == cause


@pytest.mark.parametrize(("kept", "limited"), [(1000, True), (58, False)])
def test_a_constant_that_the_result_does_not_follow_limits_what_no_defect_says(
    record: Record, kept: int, limited: bool
) -> None:
    row = {"input": "input_3_causal", "kind": "whole number", "right": False}
    moves: dict[str, JsonValue] = {**row, "elements_moved": 1000, "elements_dead": kept}
    dead = finding("dead_inputs", "fail", grade="hint", evidence={"inputs": [moves]})
    others = [one for one in RIGHT if one.probe != "dead_inputs"]
    verdict = judge.judge(record.model_copy(update={"findings": (*others, dead)}))
    assert verdict.name == "no defect found"
    assert ("gives to input 3 (causal); with another" in verdict.reasons[0]) == limited
    assert (verdict.reasons[0] == "right in every question that was asked") != limited


@pytest.mark.parametrize(("of", "timed", "limited"), [(4, False, True), (1, False, False), (4, True, False)])
def test_configurations_that_were_not_run_limit_what_no_defect_says(
    record: Record, of: int, timed: bool, limited: bool
) -> None:
    tuned: list[JsonValue] = [{"kernel": "attention", "configuration": "BLOCK=64", "of": of}]
    ran = finding("kernels_ran", evidence={"tuned": tuned, "timed": timed})
    others = [one for one in RIGHT if one.probe != "kernels_ran"]
    verdict = judge.judge(record.model_copy(update={"findings": (*others, ran)}))
    assert verdict.name == "no defect found"
    assert ("the first of the 4 configurations of attention" in verdict.reasons[0]) == limited
    assert (verdict.reasons[0] == "right in every question that was asked") != limited


TF32 = "as rounding to TF32 or fp16 leaves"


@pytest.mark.parametrize(("got", "left", "cause"), [(0.501, 11.7, TF32), (0.9, 11.7, None), (0.501, 13.2, None)])
def test_a_lower_precision_is_the_cause_where_the_bits_are_its_own_and_no_wrong_element_is_far_off(
    record: Record, got: float, left: float, cause: str | None
) -> None:
    seen: dict[str, JsonValue] = {"class": "tf32", "bits": 11.8, "bits_of": {"tf32": left}, "within_tolerance": False}
    rough = finding("precision", "fail", evidence=seen)
    wrong = finding("agreement", "fail", evidence={"elements_wrong": 2, "expected": 0.5, "got": got})
    others = [one for one in RIGHT if one.probe not in ("agreement", "precision")]
    found = judge.judge(record.model_copy(update={"findings": (*others, wrong, rough)}))
    assert found.name == "wrong"
    assert (found.root_cause is None) == (cause is None)
    assert (cause or "") in (found.root_cause or "")


def test_a_task_that_tells_at_other_inputs_alone_is_not_vacuous(record: Record) -> None:
    partly = TASK.model_copy(update={"grade": "hint"})
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, partly)}))
    assert verdict.task is not None
    assert (verdict.name, verdict.task.state) == ("no defect found", "only at other inputs")


def test_a_task_asked_on_two_devices_is_told_once(record: Record) -> None:
    twice = [TASK.model_copy(update={"device": device}) for device in ("emulated", "cuda")]
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, *twice)}))
    assert (verdict.name, verdict.reasons) == ("vacuous", ("task fail",))


def test_a_vacuous_task_says_what_speaks_for_the_kernel_elsewhere(record: Record) -> None:
    right = finding("distributions", evidence={"discriminating": True})
    plain = finding("distributions", evidence={"discriminating": False})
    reasons = [
        judge.judge(record.model_copy(update={"findings": (*RIGHT, TASK, one)})).reasons for one in (right, plain)
    ]
    assert reasons == [("task fail", "the claimed kernel where it can tell: distributions pass"), ("task fail",)]


def test_a_task_that_other_inputs_tell_is_no_obstacle(record: Record) -> None:
    hinted = TASK.model_copy(update={"grade": "hint"})
    result = answers.task_answer(record.model_copy(update={"findings": (*RIGHT, hinted)}))
    assert (result.state, result.reasons) == ("only at other inputs", ("task fail",))
    assert judge.judge(record.model_copy(update={"findings": (*RIGHT, hinted)})).name != "vacuous"


def test_the_docs_print_the_rules() -> None:
    assert pages.rules() in DOCS, f"docs/verdicts.md must hold\n{pages.rules()}"


def test_the_docs_name_the_probes_that_must_answer() -> None:
    assert ", ".join(f"`{probe}`" for probe in evidence.CORRECTNESS) in " ".join(DOCS.split())


@pytest.mark.parametrize(
    ("ran", "blocks", "device", "left"),
    [
        ("small", "skip", "emulated", ["large"]),
        ("large", "skip", "emulated", []),
        ("small", "pass", "emulated", []),  # blocks of the claimed shape ran
        ("small", "skip", "cuda", []),  # a GPU names kernels in its own way
    ],
)
def test_a_kernel_that_the_claimed_shape_alone_launches_leaves_the_verdict_open(
    ran: str, blocks: str, device: str, left: list[str]
) -> None:
    known = [one for one in RIGHT if one.probe not in ("kernels_ran", "claimed_launches", "claimed_blocks")]
    known += [
        finding("claimed_blocks", blocks),
        finding("claimed_launches", evidence={"launches": [{"kernel": "large"}]}).model_copy(
            update={"device": "emulated"}
        ),
        finding("kernels_ran", evidence={"launches": [{"kernel": ran}]}).model_copy(update={"device": device}),
    ]
    wanted = [
        f"a run of {name}, which the source launches at the claimed shape and at none that was run" for name in left
    ]
    assert [text for text in evidence.missing(known) if "a run of" in text] == wanted
