from __future__ import annotations

import pytest

from audit.review import rules
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse
from audit.review.rule import Rule
from tests.review.cuda_pairs import KNOWN_BAD, KNOWN_GOOD

BY_NAME = {rule.name: rule for rule in rules.CUDA}


def pointed_at(rule: Rule[CudaReading], text: str) -> list[int]:
    return sorted({spot.line for spot in rule.find(CudaReading(parse(text)))})


def cases(table: dict[str, list[str]]) -> list[object]:
    return [
        pytest.param(name, text, id=f"{name}-{place}")
        for name, texts in table.items()
        for place, text in enumerate(texts)
    ]


def test_every_rule_has_a_hit_and_a_look_alike() -> None:
    assert set(KNOWN_BAD) == set(KNOWN_GOOD) == set(BY_NAME)


@pytest.mark.parametrize(("name", "text"), cases(KNOWN_BAD))
def test_points_at_the_marked_lines(name: str, text: str) -> None:
    marked = [number for number, line in enumerate(text.splitlines(), start=1) if "HERE" in line]
    assert marked
    assert pointed_at(BY_NAME[name], text) == marked


@pytest.mark.parametrize(("name", "text"), cases(KNOWN_GOOD))
def test_is_silent_on_look_alikes(name: str, text: str) -> None:
    assert pointed_at(BY_NAME[name], text) == []


@pytest.mark.parametrize(("name", "text"), cases(KNOWN_BAD))
def test_says_nothing_about_comments_and_strings(name: str, text: str) -> None:
    commented = "\n".join(f"// {line}" for line in text.splitlines())
    literal = text.replace("\\", "").replace('"', "").replace("\n", " ")
    assert pointed_at(BY_NAME[name], f'{commented}\nconst char* text = "{literal}";\n') == []
