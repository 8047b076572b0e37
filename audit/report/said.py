"""Texts that know how they were made, so that a report can say them in another language.

Each is its English text and may be used as such; `audit.report.translation` reads what stands beside the text. A
plain `str` in a report is a name or a number and is the same in every language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Said(str):
    """A sentence of the report: a template of the catalogue and what its placeholders hold."""

    template: str
    parameters: Mapping[str, str]

    __slots__ = ("parameters", "template")

    def __new__(cls, template: str, parameters: Mapping[str, str]) -> Said:
        """The template with its placeholders filled, in English."""
        said = super().__new__(cls, template.format(**parameters))
        said.template, said.parameters = template, dict(parameters)
        return said


class Listed(str):
    """Texts one after the other, each of which may be any of the kinds here."""

    separator: str
    parts: tuple[str, ...]

    __slots__ = ("parts", "separator")

    def __new__(cls, separator: str, parts: Iterable[str]) -> Listed:
        """The parts in English, with the separator between them."""
        known = tuple(parts)
        listed = super().__new__(cls, separator.join(known))
        listed.separator, listed.parts = separator, known
        return listed


class Told(str):
    """A text of the record: a stage's sentence where the catalogue knows it, else somebody's words, to be quoted."""

    __slots__ = ()


def say(template: str, /, **parameters: str) -> Said:
    """A sentence of the report; the template stands in the catalogue of every other language."""
    return Said(template, parameters)


def listed(separator: str, parts: Iterable[str]) -> Listed:
    """Texts with a separator between them; the separator stands in the catalogue too."""
    return Listed(separator, parts)
