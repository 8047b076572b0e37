"""HEAD against BASE from literal samples, and the form of the SARIF and JUnit files."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from audit import judge
from audit.apps.pr import command
from audit.apps.pr.command import Against, against
from audit.measure import OURS
from audit.model import Finding, Measurement, Record, Variant, store

RECORD = Path(__file__).resolve().parents[2] / "reports/triangular_mm/h100" / store.RECORD
MEASURED = Against("slower", "time of BASE over time of HEAD: 0.50x <b>\x1b[31m")
TEXT = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
LOCATION = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {
        "artifactLocation": {"required": ["uri"], "properties": {"uri": {"type": "string", "pattern": "^[^/\\\\ ]"}}},
        "region": {"required": ["startLine"], "properties": {"startLine": {"type": "integer", "minimum": 1}}},
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": {"type": "array", "minItems": 1, "items": {"properties": {"physicalLocation": LOCATION}}},
    },
}
DRIVER = {
    "required": ["name", "version", "rules"],
    "properties": {"rules": {"items": {"required": ["id"], "properties": {"shortDescription": TEXT}}}},
}
KEY_REQUIREMENTS = {
    "type": "object",
    "required": ["version", "$schema", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "minItems": 1,
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"required": ["driver"], "properties": {"driver": DRIVER}},
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
"""What the standard requires of a document, a run, a result, and what code scanning requires beside it."""


@pytest.fixture(scope="module")
def record() -> Record:
    """The published record of a wrong kernel, with findings on lines of its source."""
    return judge.opened(RECORD)


def test_sarif_meets_the_key_requirements(record: Record) -> None:
    document = json.loads(command.sarif(record, MEASURED, file="cuda/kernel.cu", lines=True))
    Draft202012Validator(KEY_REQUIREMENTS).validate(document)
    (run,) = document["runs"]
    rules = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    found = {one["ruleId"]: (one["level"], one["locations"][0]["physicalLocation"]["region"]) for one in run["results"]}
    assert found["coverage"] == ("error", {"startLine": 1})
    assert found["launch_geometry"] == ("note", {"startLine": 36})
    assert found[command.RULE_SLOWER][0] == "error"
    assert "\x1b" not in run["results"][-1]["message"]["text"]


def test_lines_of_a_joined_source_are_not_given_to_one_of_its_files(record: Record) -> None:
    (run,) = json.loads(command.sarif(record, MEASURED, file="kernel.cu", lines=False))["runs"]
    assert {one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]} == {1}


def test_junit_has_one_case_a_probe(record: Record) -> None:
    suite = ElementTree.fromstring(command.junit(record, MEASURED).encode())[0]
    names = [one.get("name") for one in suite]
    assert len(set(names)) == len(names)
    elements = {one.get("name"): [child.tag for child in one] for one in suite}
    assert elements["coverage"] == ["failure"]
    assert elements["contract"] == ["system-out"]
    assert elements["launch_geometry"] == ["system-out"]
    assert elements["fresh_values"] == ["skipped"]
    assert elements[command.AGAINST] == ["failure"]
    for tag, attribute in {"failure": "failures", "skipped": "skipped", "error": "errors"}.items():
        assert suite.get(attribute) == str(list(elements.values()).count([tag]))
    assert suite.get("tests") == str(len(names))


@pytest.mark.parametrize("grade", ["proved", "undefined"])
def test_a_failure_outside_the_claim_is_a_warning_and_no_failed_case(record: Record, grade: str) -> None:
    about = {"target": "claimed", "outcome": "fail", "grade": grade, "device": "cuda", "summary": "N=3: wrong"}
    other = Finding.model_validate({"probe": "sweep", "claimed": False, **about})
    changed = record.model_copy(update={"findings": (other,)})
    (run,) = json.loads(command.sarif(changed, MEASURED._replace(state="same"), file="k.cu", lines=True))["runs"]
    assert [one["level"] for one in run["results"]] == ["warning"]
    case = ElementTree.fromstring(command.junit(changed, MEASURED).encode()).find(
        ".//testcase[@name='sweep']/system-out"
    )
    assert case is not None


def timed(record: Record, base_ms: float, head_ms: float, *, blocks: int = 20) -> Record:
    """The record with a base, both timed in one session."""
    places = tuple(range(blocks))
    both = {"base": base_ms, "claimed": head_ms}
    times = tuple(
        Measurement(variant=name, shape={"N": 4096}, protocol=OURS, blocks=places, positions=(0,) * blocks,
                    samples_ms=tuple(ms * (1 + block % 3 / 1e3) for block in places), session="ladder")
        for name, ms in both.items()
    )  # fmt: skip
    claim = record.claim.statement
    base = Variant(file="base.cu", role="base", technique="the kernel before the change")
    audited = record.claim.model_copy(
        update={"statement": claim.model_copy(update={"variant": (*claim.variant, base)})}
    )
    return record.model_copy(update={"claim": audited, "measurements": times})


@pytest.mark.parametrize(
    ("base_ms", "head_ms", "state", "words"),
    [
        (2.0, 1.0, "faster", "2.00x (95 % interval 2.00 to 2.00, 20 blocks): HEAD is faster than BASE."),
        (1.0, 2.0, "slower", "0.50x (95 % interval 0.50 to 0.50, 20 blocks): HEAD is slower than BASE."),
        (1.0, 1.01, "same", "0.99x (95 % interval 0.99 to 0.99, 20 blocks): no difference of 2 % or more."),
    ],
)
def test_the_state_follows_from_the_interval(
    record: Record, base_ms: float, head_ms: float, state: str, words: str
) -> None:
    found = against(timed(record, base_ms, head_ms))
    assert found.state == state
    assert found.sentence == f"time of BASE over time of HEAD on {record.device.name}: {words}"


def test_too_few_blocks_are_inconclusive_with_the_reason(record: Record) -> None:
    found = against(timed(record, 1.0, 2.0, blocks=4))
    assert found.state == "inconclusive"
    assert "inconclusive: too few blocks with samples of both: 4, and 10 are needed." in found.sentence


def test_a_base_that_does_not_build_is_no_measure(record: Record) -> None:
    head = record.ladder[0].model_copy(update={"state": "passed"})
    base = head.model_copy(update={"variant": "base", "role": "base", "state": "undecided", "reason": "no library."})
    note = record.environment.builds[0].model_copy(update={"variant": "base", "outcome": "does not compile"})
    about = record.environment.model_copy(update={"builds": (note,)})
    changed = {"ladder": (head, base), "environment": about, "measurements": ()}
    found = against(record.model_copy(update=changed))
    assert found == ("not measured", "NOT MEASURED: BASE does not build (no library).")
