"""The rates of the published self-tests: a part of the README, and `docs/self_test.md`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from audit.apps.pages.described import TEXTS
from audit.apps.selftest.controls import BLIND
from audit.apps.selftest.record import SelfTest, read
from audit.apps.selftest.score import rates, shortfalls, upper_bound
from audit.report import markdown
from audit.report.view import Code, Table

SHORT = "; short of the aim, so that its answers alone are not to be relied on"
WRONG = ("missed", "falsely failed", "not concluded", "no answer")


def published(folder: Path) -> list[SelfTest]:
    """The records of a folder, the emulated device's first, those of blind controls last and in the order of time."""
    seen = sorted(folder.glob("*.json"), key=lambda path: (path.stem != "emulated", path.stem))
    return [*map(read, seen), *sorted(map(read, folder.glob("blind/*.json")), key=_started)]


def _started(record: SelfTest) -> str:
    """Return when a run started: UTC, ISO 8601."""
    return record.environment.started_utc


def last(records: Sequence[SelfTest]) -> list[SelfTest]:
    """The records, of blind controls only the last run on each device."""
    once = {one.device.name: one for one in records if blind(one)}
    return [*(one for one in records if not blind(one)), *once.values()]


def part(folder: Path) -> str:
    """The part of the README: the rates of each device, of the blind controls those of the last run."""
    return "\n".join(_sentences(last(published(folder)))) + "\n"


def _sentences(records: Sequence[SelfTest]) -> list[str]:
    """The rates of each record, those of blind controls apart."""
    seen = [_sentence(record) for record in records if not blind(record)]
    others = [_sentence(record) for record in records if blind(record)]
    return [*seen, *(["", TEXTS["blind_controls"], "", *others] if others else [])]


def text(records: Sequence[SelfTest]) -> str:
    """All of `docs/self_test.md`: the rates, known-bad controls by probe, and every control that is answered wrong."""
    asked = [one for one in records if not blind(one)]
    parts = [
        TEXTS["self_test"],
        *_sentences(records),
        "",
        "## By probe",
        _by_probe(asked),
        "",
        TEXTS["answered_wrong"],
        _answered_wrong(records),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _by_probe(records: Sequence[SelfTest]) -> str:
    """One row a probe, one column a device."""
    probes = sorted({row.probe for record in records for row in record.rows if row.role == "known_bad" and row.probe})
    rows = [(Code(probe), *(_caught(record, probe) for record in records)) for probe in probes]
    known = [rates(record.rows) for record in records]
    good = ("known-good controls passed", *(f"{one.passed} of {one.known_good}" for one in known))
    columns = ("Known-bad controls caught by", *(record.device.name for record in records))
    return str(markdown.table(Table("", columns, (*rows, good))))


def _answered_wrong(records: Sequence[SelfTest]) -> str:
    """One row for each answer of `WRONG`, in the last run over those controls on each device."""
    rows = [
        (Code(row.place), row.mechanism, record.device.name, row.result)
        for record in last(records)
        for row in record.rows
        if row.result in WRONG
    ]
    columns = ("Kernel", "What it does", "Device", "Answer")
    return str(markdown.table(Table("", columns, tuple(rows)))) if rows else "None.\n"


def blind(record: SelfTest) -> bool:
    """Whether a record is of controls whose writers had the documentation alone."""
    return any(row.folder.split("/")[0] == BLIND for row in record.rows)


def _sentence(record: SelfTest) -> str:
    known = rates(record.rows)
    on = f"- {markdown.escape(record.device.name)}, kit {markdown.escape(record.environment.kit)}"
    if blind(record):
        bound = upper_bound(known.falsely_failed, known.known_good)
        folders = " and ".join(sorted({f"`{row.folder.split('/')[1]}`" for row in record.rows}))
        return (
            f"{on}, {_started(record)[:10]}, {len(record.rows)} kernels of {folders}: {known.proved} of "
            f"{known.known_bad} known-bad kernels proved, {known.flagged} more as undefined behaviour or a hint; "
            f"{known.falsely_failed} of {known.known_good} known-good kernels failed "
            f"(95 % bound: under {math.ceil(1000 * bound) / 10:.1f} %)"
        )
    checks = record.environment.sandbox
    held = f"{sum(one.up for one in checks)} of {len(checks)} sandbox limits around claimed code held"
    return (
        f"{on}: {known.caught} of {known.known_bad} known-bad controls caught by "
        f"the probe made for them, {known.proved} proved; {known.falsely_failed} of {known.known_good} known-good "
        f"controls falsely failed{f', {known.not_concluded} not concluded' if known.not_concluded else ''}; "
        f"{held if checks else 'taken before claimed code ran in a sandbox'}{SHORT if shortfalls(record) else ''}"
    )


def _caught(record: SelfTest, probe: str) -> str:
    own = [row for row in record.rows if row.role == "known_bad" and row.probe == probe]
    known = rates(own)
    if not known.known_bad:
        return "skipped" if own else "not asked"
    how = ", as a hint or undefined behaviour" if known.flagged and not known.proved else ""
    return f"{known.caught} of {known.known_bad}{how}"
