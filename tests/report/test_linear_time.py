"""The time to write a report grows with its texts, and not with the square of them, in every form and language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice

import pytest

from audit.report import content, translation
from audit.report.formats import FORMATS
from audit.report.messages import Recorded
from audit.report.view import Report
from tests.report.fixture import triangular
from tests.review.test_linear_time import grows_in_line

CHARACTERS_A_SENTENCE = 160
PATTERNS = [" ".join(one.pieces) for one in translation.patterns("ja") if len(one.pieces) > 1]
JOINTS = (": ", "; ", ", ", " and ", " of ", " (", "), ", " in ", " at ", " is ")


def words(number: int) -> str:
    return f"{number} words that no pattern of the kit knows, number {number}"


def joints(number: int) -> str:
    """Many patterns fit many parts of it."""
    parts = islice(cycle(JOINTS), number % 7, number % 7 + 24)
    return f"{number}" + "".join(f"{joint}a{number % 10} b" for joint in parts)


def patterns(number: int) -> str:
    """Sentences of the kit inside one another, none of which ends as it should."""
    return f"{number}, " + " ".join(islice(cycle(PATTERNS), number % len(PATTERNS), number % len(PATTERNS) + 3))


def report(size: int, sentence: Callable[[int], str]) -> Report:
    """A report whose every section has different sentences, of so many characters in all."""
    whole = content.build(triangular(), ())
    count = size // CHARACTERS_A_SENTENCE // len(whole.sections)
    sections = [
        replace(one, bullets=tuple(Recorded(sentence(place * count + number)[:900]) for number in range(count)))
        for place, one in enumerate(whole.sections)
    ]
    return replace(whole, sections=tuple(sections))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "pdf"])
@pytest.mark.parametrize("sentence", [words, joints, patterns])
def test_every_form(name: str, sentence: Callable[[int], str]) -> None:
    def written(made: Report) -> None:
        translation._read.cache_clear()
        FORMATS[name].make(made, "ja")

    assert grows_in_line(written, lambda size: report(8 * size, sentence))  # fewer sentences differ too much in cost


@pytest.mark.parametrize("sentence", [joints, patterns])
def test_one_sentence(sentence: Callable[[int], str]) -> None:
    def read(text: str) -> None:
        translation._read.cache_clear()
        translation._read(text, "ja")

    assert grows_in_line(read, lambda size: (" ".join(map(sentence, range(99))))[: size // 10])
