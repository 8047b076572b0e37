"""Every rule points at the marked lines of its known-bad sources, and silent on look-alikes, comments and strings."""

from __future__ import annotations

import pytest

from audit.review import rules
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse
from audit.review.python_reading import PythonReading
from tests.review import cuda_pairs, python_pairs

CUDA, PYTHON = {rule.name: rule for rule in rules.CUDA}, {rule.name: rule for rule in rules.PYTHON}


def pointed_at(name: str, text: str) -> list[int]:
    if name in CUDA:
        return sorted({spot.line for spot in CUDA[name].find(CudaReading(parse(text)))})
    return sorted({spot.line for spot in PYTHON[name].find(PythonReading(text))})


def cases(*tables: dict[str, list[str]]) -> list[object]:
    return [
        pytest.param(name, text, id=f"{name}-{place}")
        for table in tables
        for name, texts in table.items()
        for place, text in enumerate(texts)
    ]


BAD = cases(cuda_pairs.KNOWN_BAD, python_pairs.KNOWN_BAD)


@pytest.mark.parametrize(("pairs", "named"), [(cuda_pairs, CUDA), (python_pairs, PYTHON)])
def test_every_rule_has_a_hit_and_a_look_alike(pairs: object, named: dict[str, object]) -> None:
    assert set(pairs.KNOWN_BAD) == set(pairs.KNOWN_GOOD) == set(named)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "text"), BAD)
def test_points_at_the_marked_lines(name: str, text: str) -> None:
    marked = [number for number, line in enumerate(text.splitlines(), start=1) if "HERE" in line]
    assert marked
    assert pointed_at(name, text) == marked


@pytest.mark.parametrize(("name", "text"), cases(cuda_pairs.KNOWN_GOOD, python_pairs.KNOWN_GOOD))
def test_is_silent_on_look_alikes(name: str, text: str) -> None:
    assert pointed_at(name, text) == []


@pytest.mark.parametrize(("name", "text"), BAD)
def test_says_nothing_about_comments_and_strings(name: str, text: str) -> None:
    sign, literal = ("//", text.replace("\\", "").replace('"', "").replace("\n", " ")) if name in CUDA else ("#", text)
    commented = "\n".join(f"{sign} {line}" for line in text.splitlines())
    held = f'const char* text = "{literal}";' if name in CUDA else f"TEXT = {literal!r}"
    assert pointed_at(name, f"{commented}\n{held}\n") == []
