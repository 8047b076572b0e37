"""`audit self-test`: runs the controls, prints the matrix or the record, says whether this machine can be relied on."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg, Device
from audit.apps.selftest.controls import ALL, Part, run
from audit.apps.selftest.record import Row, SelfTest, read, to_json
from audit.apps.selftest.score import differences, rates, shortfalls
from audit.judge import evidence
from audit.model import sanitizer
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.progress import Progress

MARKS = {"proved": "C", "undefined": "u", "hint": "h", "pass": ".", "skip": "s", "error": "!"}
LEGEND = "C proved, u undefined behaviour, h hint, . passed, s skipped, ! no answer; [ ] the probe made for it"
QUIET = ("proved", "passed")


def _part(text: str) -> Part:
    part = Part(*(int(number) for number in text.split("/")))
    if not 1 <= part.first <= part.of:
        raise ArgumentTypeError(f"{text} is no part, such as 1/3")
    return part


def self_test(  # noqa: PLR0913  # one argument an option
    *,
    device: Device = "auto",
    json: Annotated[bool, Arg("print the record instead of the matrix, and the progress on stderr")] = False,
    out: Annotated[
        Path | None, Arg("also write the record there, growing; goes on with one that was cut", "FILE")
    ] = None,
    seed: Annotated[int | None, Arg("the seed a record names, to reproduce its answers", "N")] = None,
    against: Annotated[Path | None, Arg("an earlier record: exit 1 where an answer differs from it", "FILE")] = None,
    blind: Annotated[bool, Arg("the controls whose writers had read the documentation alone")] = False,
    part: Annotated[Part, Arg("every N-th control from the K-th on; makes no record", "K/N", read=_part)] = ALL,
) -> int:
    """Returns 0 if the device's answers can be relied on, else 1 with the reason on stderr.

    Without `seed` the inputs are drawn from the seed that the record `against` names.

    Raises:
        BadInput: the device cannot be used here, a file cannot be read or written, or a part is to be a record.
    """
    whole = part.of == 1
    if out is not None and not whole:
        raise BadInput("--part: a part of the controls is no record; leave --out out")
    before = None if against is None else read(against)
    progress = Progress(sys.stderr if json else None)
    seed = before.environment.seeds[0] if before is not None and seed is None else seed
    record = run(device, blind=blind, part=part, entropy=seed, out=out, progress=progress)
    if json:
        print(to_json(record), end="")
    else:
        terminal.say(*matrix(record).splitlines())
    reasons = shortfalls(record) + ([] if before is None else differences(record, before, whole=whole))
    if reasons:
        terminal.warn(f"{record.device.name} cannot be relied on here: {'; '.join(reasons)}")
    return 1 if reasons else 0


def matrix(record: SelfTest) -> str:
    """One line a control, one column a probe or family of rules; then the reasons of results; then the rates."""
    probes = asked(record.rows)
    width = max((len(row.place) for row in record.rows), default=0)
    lines = [f"{'':{width}}  {number:2} {probe}" for number, probe in enumerate(probes, 1)]
    lines += ["", f"{'':{width}}  " + "".join(f"{number:^4}" for number in range(1, len(probes) + 1))]
    for row in record.rows:
        cells = "".join(_cell(row, column) for column in probes)
        lines.append(f"{row.place:{width}}  {cells}  {row.result}")
    lines += ["", LEGEND, ""]
    lines += [f"{row.result}: {row.place}: {row.reason}" for row in record.rows if row.result not in QUIET]
    return "\n".join(sanitizer.row(line) for line in (*lines, *summary(record))) + "\n"


def summary(record: SelfTest) -> list[str]:
    """The checks, the two rates with their counts, and what falls short, one line each."""
    lines = [f"{check.control}: {check.found} (must be {check.expected})" for check in record.checks]
    if record.rows:
        known = rates(record.rows)
        skipped = sum(row.result == "skipped" for row in record.rows)
        caught, failed = _of(known.caught, known.known_bad), _of(known.falsely_failed, known.known_good)
        lines += [
            f"known-bad controls caught by the probe made for them: {caught}: "
            f"{known.proved} proved, {known.flagged} as undefined behaviour or a hint",
            f"known-good controls falsely failed: {failed}: {known.passed} passed, {known.hinted} with a hint, "
            f"{known.not_concluded} not concluded, since their source reaches the process that checks it",
            f"skipped on {record.device.name}, each for the reason above: {skipped}",
        ]
    return [*lines, f"{record.seconds:.0f} s in all", *shortfalls(record)]


def asked(rows: Sequence[Row]) -> list[str]:
    """Every column: the probes that answered, in the order they first did, and one for all rules of a family.

    Rules are named `family.rule` and answer only where they hint, so a column each would be mostly blank.
    """
    names = dict.fromkeys(_column(name) for row in rows for name in row.answers)
    return [name for name in names if name != evidence.BUILD]


def _column(name: str) -> str:
    return name.partition(".")[0]


def _cell(row: Row, column: str) -> str:
    """The letter of the answer that says most; a blank where nobody was asked."""
    own = row.role == "known_bad" and row.probe is not None and _column(row.probe) == column
    answers = [row.answers[name] for name in row.answers if (name == row.probe if own else _column(name) == column)]
    marks = {MARKS[answer.grade or answer.outcome] for answer in answers}
    mark = next((mark for mark in "Cuh!s." if mark in marks), " ")
    return f"[{mark}] " if own else f" {mark}  "


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")
