"""Sizes around the claim: where the claimed kernel is right and where not, and how fast variants are beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from pydantic import JsonValue

from audit.judge.answers import BASELINE, FLOOR
from audit.judge.causes import sizes_of
from audit.judge.evidence import objects
from audit.measure import OURS
from audit.measure import sizes as timed_sizes
from audit.measure.comparison import AGAIN
from audit.measure.comparison import FLOOR_HERE as HERE
from audit.measure.samples import SIZED
from audit.model import Finding, Record, Shape
from audit.report import evidence
from audit.report.messages import NOT_MEASURED, headings, joined, message, sentence, shape
from audit.report.view import Figure, Section, Table

PROBE = "sweep"
MOST_NAMES, MOST_SIZES = 12, 100
"""Bounds on a record of others; ours have a fourth of it."""
RESULTS = ("right", "wrong", "launch_refused", "refused", "not_taken", "no_answer")
"""The results of a call at a size, in the order of the table's columns."""


@dataclass(frozen=True)
class Strip:
    """One size of the task, or all of them, changed around the base: each value with its result, in order."""

    name: str
    results: tuple[tuple[Shape, str, str], ...]
    """A shape, its value as shown, and the result."""

    def at(self, result: str) -> str:
        """Return the values with that result, for a cell."""
        return ", ".join(value for _, value, found in self.results if found == result)


def swept(record: Record) -> Finding | None:
    """Return what was found of the sizes around the claim; None without the sweep."""
    return evidence.find(record, PROBE, record.claimed_name)


def around(record: Record) -> Shape | None:
    """Return the shape that the sizes lie around; None without the sweep."""
    found = swept(record)
    base = None if found is None else sizes_of(found.evidence.get("around"))
    return base if base is None or len(base) <= MOST_NAMES else None


def strips(record: Record) -> list[Strip]:
    """Return the strip of each size of the task, and last that of all of them at once."""
    base = around(record)
    if base is None:
        return []
    columns: dict[str, list[tuple[Shape, str, str]]] = {name: [] for name in (*base, "")}
    for sizes, result in _results(record):
        changed = [name for name in base if sizes.get(name) != base[name]]
        if sizes.keys() == base.keys():
            for name in changed if len(changed) == 1 else [""] if changed else base:  # the base is in every strip
                shown = str(sizes[name]) if name else " x ".join(map(str, sizes.values()))
                columns[name].append((sizes, shown, result))
    return [Strip(name, tuple(sorted(found, key=lambda one: [*one[0].values()]))) for name, found in columns.items()
            if found]  # fmt: skip


def told(record: Record) -> str | None:
    """Return where the claimed kernel is right, in a sentence; None without the sweep."""
    found = swept(record)
    return sentence(found.summary) if found and found.outcome in ("pass", "fail") else None


def rule(record: Record) -> tuple[int, str] | None:
    """Return the line with the number of the rule that tells the wrong sizes, and where it is wrong; None where sizes
    that would refute a rule were not asked, or no line has its number."""
    found = swept(record)
    line = found.evidence.get("number_line") if found and found.outcome == "fail" else None
    parts = found.summary.split("; ") if found else []
    where = next((part for part in parts if part.startswith("wrong")), None)
    return (line, where) if isinstance(line, int) and where else None


def section(record: Record, figures: tuple[Figure, ...]) -> tuple[Section, ...]:
    """Return the section; nothing without the sweep."""
    found, base, rows = swept(record), around(record), strips(record)
    if found is None or base is None or not rows:
        return ()
    used = [result for result in RESULTS if any(one.at(result) for one in rows)]
    cells = tuple((one.name or message("sizes.all_at_once"), *(one.at(result) for result in used)) for one in rows)
    columns = (*headings("size"), *(message(f"sizes.{result}") for result in used))
    table = Table(message("sizes.table", shape=shape(base)), columns, cells)
    paragraphs = (sentence(found.summary), message("sizes.note"))
    title = message("probe.sweep")
    return (Section(title, "sizes", paragraphs=paragraphs, tables=(table,), figures=figures, folded=True),)


def _results(record: Record) -> Iterator[tuple[Shape, str]]:
    """Yield the shapes of the evidence with their results; an entry of another form is left out."""
    found = swept(record)
    for one in objects(found.evidence.get("sizes"))[:MOST_SIZES] if found else []:
        sizes = sizes_of(one.get("sizes"))
        if sizes is not None and isinstance(one.get("result"), str):
            yield sizes, one["result"]


MOST_TIMED = 8
"""Sizes with times of a record of others; ours have three."""


def measured(record: Record) -> Finding | None:
    """Return what is known of the other sizes; None where they were not asked about."""
    return next((one for one in record.findings if one.probe == timed_sizes.NAME), None)


def by_size(record: Record) -> list[tuple[Shape, Record]]:
    """Return for each size that was timed a record in which it is the claimed one, the claimed size among them, the
    smallest first; empty where no other size was timed."""
    found, claimed = measured(record), record.claim.statement.shapes.claimed
    entries = objects(found.evidence.get("sizes"))[:MOST_TIMED] if found else []
    known = [(size, about) for about in entries if (size := sizes_of(about.get("sizes"))) is not None]
    others = [(size, _at(record, size, about)) for size, about in known if size.keys() == claimed.keys()]
    timed = [(one, at) for one, at in others if at.measurements]
    names = {one.variant for _, at in timed for one in at.measurements}
    here = (one for one in record.measurements if one.protocol != SIZED)
    own = tuple(one for one in here if one.variant in names or one.variant.startswith(AGAIN))
    every = [(claimed, record.model_copy(update={"measurements": own})), *timed] if timed else []
    return sorted(every, key=lambda one: prod(one[0].values()))


def told_times(record: Record, name: str) -> str:
    """Return that a variant's ratio is one of the claimed size, with those at other sizes."""
    claimed = record.claim.statement.shapes.claimed
    ratios = [
        message("form.step_ratio", step=shape(one), ratio=evidence.ratio_of(at, name, BASELINE))
        for one, at in by_size(record)
        if one != claimed
    ]
    about = {"shape": shape(claimed), "baseline": evidence.callable_title(BASELINE)}
    return message("speed.sizes", ratios=joined("semicolon", ratios) if ratios else NOT_MEASURED, **about)


def _at(record: Record, size: Shape, about: dict[str, JsonValue]) -> Record:
    """Return the record with the times at a size as those of the claimed one, and the floors of that size alone."""
    taken = (one for one in record.measurements if one.protocol == SIZED and one.shape == size)
    own = tuple(one.model_copy(update={"protocol": OURS}) for one in taken)
    floor = Finding(probe=HERE, target=record.device.name, outcome="pass", summary="", evidence=about)
    left = (one for one in record.findings if one.probe not in (HERE, FLOOR))
    return record.model_copy(update={"measurements": own, "findings": (*left, floor)})
