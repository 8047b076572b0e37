from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from audit.measure.checks import TIMING
from audit.probes import PROBES
from audit.probes.concluding.behaviour import BEHAVIOUR
from audit.review import rules
from audit.review.rule import Rule
from audit.review.rules import cuda, named_calls, python


def test_every_rule_of_the_package_is_in_the_table() -> None:
    for package, listed, by_name in (
        (cuda, rules.CUDA, named_calls.CUDA),
        (python, rules.PYTHON, named_calls.PYTHON),
    ):
        modules = [import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__)]
        defined = [one for module in modules for one in vars(module).values() if isinstance(one, Rule)]
        assert sorted([*(rule.name for rule in defined), *by_name]) == sorted(rule.name for rule in listed)


def test_names_are_unique_and_every_rule_says_what_it_asks() -> None:
    assert len(rules.RULES) == len(rules.CUDA) + len(rules.PYTHON)
    for rule in rules.RULES.values():
        assert rule.question.endswith("?"), rule.name
        assert rule.silent_on.startswith("Silent"), rule.name


def test_every_rule_names_what_can_confirm_it() -> None:
    known = {*PROBES, TIMING}
    assert {rule.name: rule.confirm_with for rule in rules.RULES.values() if rule.confirm_with not in known} == {}


def test_the_kinds_of_behaviour_that_a_rule_explains_are_those_that_are_reported() -> None:
    known = [kind for rule in rules.RULES.values() for kind in rule.kinds]
    assert known
    assert {*known} <= {*BEHAVIOUR}
    assert all(rule.kinds for rule in rules.RULES.values() if rule.confirm_with == "memory_access")
