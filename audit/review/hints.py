"""All rules asked about one source text, in the order of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.review import cuda_reading, rules
from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot


@dataclass(frozen=True)
class Hint:
    """One line that one rule points at. A hint convicts nobody."""

    rule: Rule[Any]
    spot: Spot


def of_cuda(text: str) -> list[Hint]:
    """What the CUDA rules point at; never fails, since what cannot be read is left out."""
    reading = cuda_reading.read(text)
    return _sorted([Hint(rule, spot) for rule in rules.CUDA for spot in rule.find(reading)])


def of_python(text: str) -> list[Hint]:
    """What the Python rules point at, and the CUDA rules in the CUDA sources that string constants hold.

    Raises:
        SyntaxError: the text is not Python.
    """
    reading = PythonReading(text)
    found = [Hint(rule, spot) for rule in rules.PYTHON for spot in rule.find(reading)]
    for source in reading.embedded:
        inner = of_cuda(source.text)
        found += [Hint(each.rule, Spot(source.line(each.spot.line), each.spot.message)) for each in inner]
    return _sorted(found)


def _sorted(found: list[Hint]) -> list[Hint]:
    """By line, then in the order of the tables; each once."""
    order = {name: place for place, name in enumerate(rules.RULES)}
    return sorted(dict.fromkeys(found), key=lambda hint: (hint.spot.line, order[hint.rule.name], hint.spot.message))
