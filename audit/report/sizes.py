"""Sizes around the claim: where the claimed kernel is right and where not, as a sentence and a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.model import Record, Shape
from audit.report import evidence
from audit.report.quantities import sentence, shape
from audit.report.said import Told, say
from audit.report.view import Figure, Section, Table

SWEEP = "sweep"
MOST_NAMES, MOST_SIZES = 12, 100
"""Of a record that somebody else wrote; ours have a fourth of it."""
COLUMNS = {
    "right": say("Right at"),
    "wrong": say("Wrong at"),
    "launch_refused": say("A GPU refuses a launch at"),
    "refused": say("The call raises at"),
    "not_taken": say("Not of the task"),
    "no_answer": say("No answer at"),
}
"""The results that a finding tells of a size, as the table heads them."""


@dataclass(frozen=True)
class Strip:
    """One size of the task, or all of them, changed around the base: each value with what came of it, in order."""

    name: str
    results: tuple[tuple[Shape, str, str], ...]
    """A shape, its value as shown, and the result."""

    def at(self, result: str) -> str:
        """The values with that result, for a cell."""
        return ", ".join(value for _, value, found in self.results if found == result)


def around(record: Record) -> Shape | None:
    """The shape that the sizes lie around; None where they were not asked."""
    found = evidence.find(record, SWEEP, evidence.claimed_name(record))
    base = None if found is None else evidence.sizes(found.evidence.get("around"))
    return base if base is None or len(base) <= MOST_NAMES else None


def strips(record: Record) -> list[Strip]:
    """Each size of the task, and last all of them at once."""
    base, told = around(record), [*_told(record)]
    if base is None:
        return []
    columns: dict[str, list[tuple[Shape, str, str]]] = {name: [] for name in (*base, "")}
    for sizes, result in told:
        changed = [name for name in base if sizes.get(name) != base[name]]
        if sizes.keys() == base.keys():
            for name in changed if len(changed) == 1 else [""] if changed else base:  # the base is in every strip
                shown = str(sizes[name]) if name else " x ".join(map(str, sizes.values()))
                columns[name].append((sizes, shown, result))
    return [Strip(name, tuple(sorted(found, key=lambda one: [*one[0].values()]))) for name, found in columns.items()
            if found]  # fmt: skip


def section(record: Record, figures: tuple[Figure, ...]) -> tuple[Section, ...]:
    """Nothing where no sizes were asked."""
    found, base, rows = evidence.find(record, SWEEP, evidence.claimed_name(record)), around(record), strips(record)
    if found is None or base is None or not rows:
        return ()
    used = [result for result in COLUMNS if any(one.at(result) for one in rows)]
    cells = tuple((one.name or say("all at once"), *(one.at(result) for result in used)) for one in rows)
    table = Table(
        say("One size changed at a time, the others as in {shape}", shape=shape(base)),
        (say("Size"), *(COLUMNS[result] for result in used)),
        cells,
    )
    note = say("A failure at a size that the claim does not speak of is no failure of the claim.")
    paragraphs = (sentence(Told(found.summary)), note)
    return (Section(say("Sizes around the claim"), "sizes", paragraphs=paragraphs, tables=(table,), figures=figures),)


def _told(record: Record) -> Iterator[tuple[Shape, str]]:
    """The shapes of the evidence with their results; what has another form is left out."""
    found = evidence.find(record, SWEEP, evidence.claimed_name(record))
    told = found.evidence.get("sizes") if found else None
    for one in told[:MOST_SIZES] if isinstance(told, list) else []:
        shape_of = evidence.sizes(one.get("sizes")) if isinstance(one, dict) else None
        if isinstance(one, dict) and shape_of is not None and isinstance(one.get("result"), str):
            yield shape_of, str(one["result"])
