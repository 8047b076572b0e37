"""A self-test as text: the matrix of controls and probes, and the rates; pure functions of the record."""

from __future__ import annotations

from collections.abc import Sequence

from audit.apps.selftest.record import Answer, Row, SelfTest
from audit.apps.selftest.score import rates, shortfalls
from audit.judge import clearing
from audit.model import sanitizer

MARKS = {"proved": "C", "undefined": "u", "hint": "h", "pass": ".", "skip": "s", "error": "!"}
LEGEND = "C convicted, u undefined behaviour, h hint, . passed, s skipped, ! no answer; [ ] the probe made for it"
QUIET = ("convicted", "cleared")


def matrix(record: SelfTest) -> str:
    """One line a control, one column a probe or family of rules; then the reasons of results; then the rates."""
    probes = asked(record.rows)
    width = max((len(_place(row)) for row in record.rows), default=0)
    lines = [f"{'':{width}}  {number:2} {probe}" for number, probe in enumerate(probes, 1)]
    lines += ["", f"{'':{width}}  " + "".join(f"{number:^4}" for number in range(1, len(probes) + 1))]
    lines += [_line(row, probes, width=width) for row in record.rows]
    lines += ["", LEGEND, ""]
    lines += [f"{row.result}: {_place(row)}: {row.reason}" for row in record.rows if row.result not in QUIET]
    return "\n".join(sanitizer.row(line) for line in (*lines, *summary(record))) + "\n"


def summary(record: SelfTest) -> list[str]:
    """The checks, the two rates with their counts, and what falls short, one line each."""
    told = [f"{check.control}: {check.found} (must be {check.expected})" for check in record.checks]
    if record.rows:
        known = rates(record.rows)
        skipped = sum(row.result == "skipped" for row in record.rows)
        caught, accused = _of(known.caught, known.existing), _of(known.accused, known.honest)
        told += [
            f"rogues caught by the probe made for them: {caught}: "
            f"{known.convicted} proved, {known.flagged} as undefined behaviour or a hint",
            f"honest kernels accused: {accused}: {known.cleared} cleared, {known.hinted} with a hint",
            f"skipped on {record.device.name}, each for the reason above: {skipped}",
        ]
    return [*told, f"{record.seconds:.0f} s in all", *shortfalls(record)]


def asked(rows: Sequence[Row]) -> list[str]:
    """Every column: the probes that answered, in the order they first did, and one for all rules of a family.

    Rules are named `family.rule` and answer only where they hint, so a column each would be mostly blank.
    """
    names = dict.fromkeys(_column(name) for row in rows for name in row.answers)
    return [name for name in names if name != clearing.BUILD]


def _column(name: str) -> str:
    return name.partition(".")[0]


def _line(row: Row, columns: Sequence[str], *, width: int) -> str:
    return f"{_place(row):{width}}  {''.join(_cell(row, column) for column in columns)}  {row.result}"


def _cell(row: Row, column: str) -> str:
    own = row.role == "rogue" and row.probe is not None and _column(row.probe) == column
    names = [name for name in row.answers if (name == row.probe if own else _column(name) == column)]
    mark = _mark([row.answers[name] for name in names])
    return f"[{mark}] " if own else f" {mark}  "


def _mark(answers: Sequence[Answer]) -> str:
    """The letter of the answer that says most; a blank where nobody was asked."""
    marks = {MARKS[answer.grade or answer.outcome] for answer in answers}
    return next((mark for mark in "Cuh!s." if mark in marks), " ")


def _place(row: Row) -> str:
    return f"{row.folder}/{row.control}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")
