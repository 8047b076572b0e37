from __future__ import annotations

from pathlib import Path

from audit.measure.state import TIMING
from audit.probes import PROBES
from audit.review import rules
from audit.review.rules.cuda import named_calls as cuda_calls
from audit.review.rules.python import named_calls as python_calls

FOLDER = Path(rules.__file__).parent


def test_every_rule_file_is_in_the_table() -> None:
    for folder, listed, calls in (("cuda", rules.CUDA, cuda_calls), ("python", rules.PYTHON, python_calls)):
        files = {path.stem for path in (FOLDER / folder).glob("*.py")} - {"__init__", "named_calls"}
        assert sorted([*files, *calls.RULES]) == sorted(rule.name for rule in listed)


def test_names_are_unique_and_every_rule_says_what_it_asks() -> None:
    assert len(rules.RULES) == len(rules.CUDA) + len(rules.PYTHON)
    for rule in rules.RULES.values():
        assert rule.question.endswith("?"), rule.name
        assert rule.silent_on.startswith("Silent"), rule.name


def test_every_rule_names_what_can_confirm_it() -> None:
    known = {*PROBES, TIMING}
    assert {rule.name: rule.confirm_with for rule in rules.RULES.values() if rule.confirm_with not in known} == {}
