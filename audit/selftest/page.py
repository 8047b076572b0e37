"""The scores of several devices as Markdown: a part of the README, and `docs/self_test.md`.

`python -m audit.selftest.page FILE...` prints the page of these records, `--readme FILE...` the part of the README.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from audit.report import markdown
from audit.report.view import Code, Table
from audit.selftest.matrix import matrix
from audit.selftest.record import Row, SelfTest, read
from audit.selftest.score import rates

START, END = "<!-- self-test: printed by audit.selftest.page -->", "<!-- end of self-test -->"
HEAD = """# How often the auditor errs
`audit self-test` runs rogues, each of which does one thing that makes a speedup false, and honest kernels, each of
which looks as if it did, through the stages of an ordinary audit. A rogue counts as caught if the probe made for it
fails: it is `convicted` where that is proved, else it is undefined behaviour or a hint, which convict nobody. An
honest kernel is accused if any probe proves it wrong or reports undefined behaviour. What does not exist on a
device is skipped there and counts nowhere. Two kernels beyond doubt come first; if they do not come out as they
must, nothing else is asked and nothing here counts.

This page is printed by `python -m audit.selftest.page`, from the records in `reports/self_test/`.
"""


def section(records: Sequence[SelfTest]) -> str:
    """The part of the README between the two markers, with them: the rates of each device."""
    return "\n".join([START, *(_sentence(record) for record in records), END])


def page(records: Sequence[SelfTest]) -> str:
    """All of `docs/self_test.md`: what became of every rogue on every device, then every answer."""
    parts = [HEAD, *(_sentence(record) for record in records), "", "## By probe", _by_probe(records), ""]
    parts += ["## The rogues", _table(records, "rogue"), ""]
    parts += ["## The honest kernels", _table(records, "honest"), ""]
    for record in records:
        parts += [f"## Every answer on {markdown.escape(record.device.name)}", f"```text\n{matrix(record)}```", ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _by_probe(records: Sequence[SelfTest]) -> str:
    """One row a probe, one column a device."""
    probes = sorted({row.probe for record in records for row in record.rows if row.role == "rogue" and row.probe})
    rows = [(Code(probe), *(_caught(record, probe) for record in records)) for probe in probes]
    honest = ("honest kernels cleared", *(_cleared(record) for record in records))
    columns = ("Rogues caught by", *(record.device.name for record in records))
    return str(markdown.table(Table("", columns, (*rows, honest))))


def _sentence(record: SelfTest) -> str:
    known = rates(record.rows)
    return (
        f"- {markdown.escape(record.device.name)}: {known.caught} of {known.existing} rogues caught by the probe made "
        f"for them, {known.convicted} proved; {known.accused} of {known.honest} honest kernels accused; "
        f"{_walls(record)}"
    )


def _walls(record: SelfTest) -> str:
    walls = record.environment.walls
    if not walls:
        return "taken before claimed code ran inside walls"
    return f"{sum(wall.up for wall in walls)} of {len(walls)} walls around claimed code stood"


def _table(records: Sequence[SelfTest], role: str) -> str:
    """One row a control of that role, one column a device."""
    known: dict[tuple[str, str], Row] = {}
    for record in records:
        known |= {(row.folder, row.control): row for row in record.rows if row.role == role}
    rows = [
        (Code(f"{folder}/{control}"), row.mechanism, Code(row.probe or "all"), *_standings(records, folder, control))
        for (folder, control), row in known.items()
    ]
    columns = ("Kernel", "What it does", "Its probe", *(record.device.name for record in records))
    return str(markdown.table(Table("", columns, tuple(rows))))


def _standings(records: Sequence[SelfTest], folder: str, control: str) -> list[str]:
    return [_standing(record, folder, control) for record in records]


def _standing(record: SelfTest, folder: str, control: str) -> str:
    row = next((one for one in record.rows if (one.folder, one.control) == (folder, control)), None)
    if row is None:
        return "not asked"
    if row.result != "flagged" or row.probe is None:
        return row.result
    return {"undefined": "undefined behaviour", "hint": "hint"}[row.answers[row.probe].grade or "hint"]


def _caught(record: SelfTest, probe: str) -> str:
    own = [row for row in record.rows if row.role == "rogue" and row.probe == probe]
    known = rates(own)
    if not known.existing:
        return "skipped" if own else "not asked"
    how = ", as a hint or undefined behaviour" if known.flagged and not known.convicted else ""
    return f"{known.caught} of {known.existing}{how}"


def _cleared(record: SelfTest) -> str:
    known = rates(record.rows)
    return f"{known.cleared} of {known.honest}"


if __name__ == "__main__":
    made, names = (section, sys.argv[2:]) if sys.argv[1:2] == ["--readme"] else (page, sys.argv[1:])
    print(made([read(Path(name)) for name in names]).rstrip("\n"))
