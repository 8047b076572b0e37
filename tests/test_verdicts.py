"""Every rule of the judge gives its verdict where its row says so, in order, and the docs print the table of them.

What the last rule says of measured times has tests of its own in `test_judge.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import clearing, judge
from audit.model import Finding, Record
from audit.probes import PROBES
from audit.report import markdown
from audit.report.view import Table
from tests.conftest import finding

DOCS = (Path(__file__).resolve().parents[1] / "docs/verdicts.md").read_text(encoding="utf-8")
RIGHT = [finding(probe) for probe in clearing.CORRECTNESS]

TASK = finding("task", "fail", target="triangular_mm")
IDLE = finding("kernels_ran", "fail")
REPLACED = finding("untouched_process", "fail")
LATE = finding("late_writes", "fail")
FLOOR = finding("floor", "fail", target="T4")

ROWS: list[tuple[str, list[Finding], str]] = [
    # rule, findings, verdict; each row also holds what every later rule would speak to, so that the order is tested
    ("proved wrong", [*RIGHT[1:], finding("contract", "fail"), TASK, IDLE, FLOOR], "wrong"),
    ("proved wrong", [*RIGHT, finding("timed_outputs", "fail"), TASK, IDLE, FLOOR], "wrong"),
    ("proved wrong", [finding("build", "error"), finding("contract", "fail")], "wrong"),
    ("the task cannot tell", [TASK, LATE, IDLE, FLOOR], "vacuous"),
    ("an answer is missing", [finding("build", "error"), *RIGHT, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT[1:], LATE, IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT[1:], finding("contract", "skip"), IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT[1:], finding("contract", "fail", grade="undefined"), IDLE, FLOOR], "undecided"),
    ("an answer is missing", [*RIGHT, finding("timed_outputs", "error"), IDLE, FLOOR], "undecided"),
    ("its process was changed", [*RIGHT, REPLACED, LATE, IDLE, FLOOR], "mistimed"),
    ("its work goes unseen", [*RIGHT, LATE, IDLE, FLOOR], "mistimed"),
    ("its work goes unseen", [*RIGHT, finding("current_stream", "fail"), FLOOR], "mistimed"),
    ("others did the work", [*RIGHT, IDLE, FLOOR], "overstated"),
    ("others did the work", [*RIGHT, finding("late_writes", "fail", grade="hint"), IDLE], "overstated"),
    ("impossible time", [*RIGHT, FLOOR], "mistimed"),
    ("impossible time", [*RIGHT[:-1], finding("memory_access", "skip"), FLOOR], "mistimed"),
    ("impossible time", [*RIGHT[:-1], finding("memory_access", "fail", grade="undefined"), FLOOR], "mistimed"),
    ("impossible time", [*RIGHT, finding("launch_geometry", "fail", grade="hint"), FLOOR], "mistimed"),
    ("impossible time", [*RIGHT, finding("timed_outputs", "skip"), FLOOR], "mistimed"),
    ("measured speed", RIGHT, "undecided"),
    ("measured speed", [*RIGHT, finding("agreement", "fail", target="thief")], "undecided"),
]


def first_rule(record: Record) -> str:
    """The name of the rule that gives the verdict."""
    claimed = record.claim.statement.claimed
    assert claimed is not None
    about = [one for one in record.findings if one.target == claimed.name]
    evidence = judge.Evidence(record, claimed, about)
    return next(rule.name for rule in judge.RULES if rule.verdict(evidence) is not None)


@pytest.mark.parametrize(("rule", "findings", "verdict"), ROWS)
def test_rule_gives_its_verdict(record: Record, rule: str, findings: list[Finding], verdict: str) -> None:
    told = record.model_copy(update={"findings": tuple(findings)})
    assert (first_rule(told), judge.judge(told).name) == (rule, verdict)


def test_every_rule_has_a_row_and_gives_only_what_it_says() -> None:
    given = {rule.name: set(rule.verdicts) for rule in judge.RULES}
    assert list(given) == list(dict.fromkeys(rule for rule, _, _ in ROWS)), "the order of the rows is that of the rules"
    assert all(verdict in given[rule] for rule, _, verdict in ROWS)


OF_THEIR_OWN = (clearing.KERNELS, clearing.REPLACED, *clearing.ESCAPES)
"""Probes that rules of their own speak to."""


@pytest.mark.parametrize("probe", [probe for probe in PROBES if probe not in OF_THEIR_OWN])
def test_any_probe_convicts_by_proof_alone_and_blocks_by_an_error(record: Record, probe: str) -> None:
    others = [one for one in RIGHT if one.probe != probe]
    verdicts = {}
    for grade in ("proved", "undefined", "hint"):
        findings = (*others, finding(probe, "fail", grade=grade), FLOOR)
        verdicts[grade] = judge.judge(record.model_copy(update={"findings": findings})).name
    broken = judge.judge(record.model_copy(update={"findings": (*others, finding(probe, "error"), FLOOR)}))
    assert verdicts["proved"] == "wrong"
    assert {verdicts["undefined"], verdicts["hint"]} <= {"undecided", "mistimed"}
    assert broken.name == "undecided"
    assert any(probe in text for text in broken.missing)


@pytest.mark.parametrize("probe", clearing.ESCAPES)
def test_unfinished_work_of_unclear_cause_blocks(record: Record, probe: str) -> None:
    for told in (finding(probe, "error"), finding(probe, "fail", grade="undefined")):
        assert judge.judge(record.model_copy(update={"findings": (*RIGHT, told, FLOOR)})).name == "undecided"


def test_a_wrong_kernel_is_told_that_its_task_cannot_tell_either(record: Record) -> None:
    verdict = judge.judge(record.model_copy(update={"findings": (*RIGHT, finding("dead_inputs", "fail"), TASK)}))
    assert verdict.name == "wrong"
    assert verdict.reasons == ("dead_inputs: dead_inputs fail", "task: task fail")


def test_inputs_that_move_nothing_are_the_cause_where_no_ablation_shows_one(record: Record) -> None:
    inputs = [{"input": "input_0_a", "right": False}, {"input": "input_1_b", "right": True}]
    dead = finding("dead_inputs", "fail", evidence={"inputs": inputs})
    told = record.model_copy(update={"findings": (*RIGHT, dead)})
    assert judge.judge(told).root_cause == "The result does not follow input 0 (a)."


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


def test_the_docs_print_the_rules() -> None:
    rows = tuple((rule.name, " or ".join(rule.verdicts), rule.when) for rule in judge.RULES)
    table = markdown.table(Table("", ("Rule", "Verdict", "When"), rows))
    assert table in DOCS, f"docs/verdicts.md must hold\n{table}"


def test_the_docs_name_the_probes_that_must_answer() -> None:
    assert ", ".join(f"`{probe}`" for probe in clearing.CORRECTNESS) in " ".join(DOCS.split())
