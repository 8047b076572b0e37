"""How sound the measurement is: the published one by what is known of it, this audit's by its own controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import NOT_MEASURED, number
from audit.report.said import Told, listed, say
from audit.report.view import Section, Table

HOLDS, DOUBTED, BROKEN, OPEN = say("holds"), say("in doubt"), say("does not hold"), say("no answer")
COUNTED = {
    HOLDS: "hold: {count}",
    BROKEN: "do not hold: {count}",
    DOUBTED: "in doubt: {count}",
    OPEN: "without an answer: {count}",
}
PUBLISHED = ("order", "kernels_ran", "first_call", "late_writes", "current_stream", "untouched_process")
"""Probes of the claimed kernel that tell whether the time of a call can be that of its work."""
OURS = ("clocks", "timing", "timed_outputs", "same_twice", "l2_flush", "order_effect", "kept_by_content", "witness")
Row = tuple[str, str, str]


def section(record: Record) -> Section:
    """Two lists of checks with their answers, and how many hold."""
    ours = [_row(one, named=True) for one in record.findings if one.probe in OURS]
    absent = say("{absent}: this audit took no time of its own on {device}.", absent=NOT_MEASURED,
                 device=Told(record.device.name))  # fmt: skip
    published = _published(record)
    counted = say("The published measurement: {answers}.", answers=answers(published))
    own = say("This audit's measurement: {answers}.", answers=answers(ours)) if ours else absent
    tables = (table(say("The published measurement"), published), table(say("This audit's measurement"), ours))
    return Section(say("Soundness of the measurement"), "soundness", paragraphs=(counted, own),
                   tables=tables if ours else tables[:1])  # fmt: skip


def table(caption: str, rows: Iterable[Row]) -> Table:
    """A list of checks as a table."""
    return Table(caption, (say("Check"), say("Answer"), say("What was observed")), tuple(rows))


def answers(rows: Iterable[Row]) -> str:
    """How many of the checks came out how, without those that none did."""
    counts = Counter(answer for _, answer, _ in rows)
    return listed(", ", (say(COUNTED[one], count=str(counts[one])) for one in COUNTED if counts[one]))


def answered(record: Record, probe: str) -> Row:
    """What a probe found about the claimed kernel."""
    found = evidence.find(record, probe, evidence.claimed_name(record))
    return (evidence.title(probe), OPEN, "") if found is None else _row(found)


def yes(question: str, holds: bool, observed: str = "") -> Row:
    """A check that the record answers by itself."""
    return question, HOLDS if holds else BROKEN, observed


def answer(finding: Finding) -> str:
    """A finding as the answer to a check: only a proved failure breaks it."""
    if finding.outcome == "pass":
        return HOLDS
    if finding.outcome != "fail":
        return OPEN
    return BROKEN if finding.convicts else DOUBTED


def _row(finding: Finding, *, named: bool = False) -> Row:
    title = evidence.title(finding.probe)
    asked = say("{question} ({target})", question=title, target=finding.target) if named else title
    return asked, answer(finding), Told(finding.summary)


def _published(record: Record) -> list[Row]:
    claim = record.claim.statement
    timed = {one.gpu for one in claim.observation}
    count = sum(one.gpu in timed for one in claim.speedup)
    observed = say("{count} of {all} ratios", count=number(count), all=number(len(claim.speedup)))
    return [
        yes(say("The evaluation protocol is known step by step"), bool(claim.protocol.steps)),
        yes(say("A kernel time is known for every claimed ratio"), count == len(claim.speedup), observed),
        *_floors(record),
        *(answered(record, probe) for probe in PUBLISHED),
    ]


def _floors(record: Record) -> list[Row]:
    """The reported times against their floors; a bare ratio has no time to compare."""
    told = [one for one in record.findings if one.probe == "floor" and one.outcome in ("pass", "fail")]
    return [(say("The time reported for {gpu} is possible", gpu=one.target), answer(one), Told(one.summary))
            for one in told]  # fmt: skip
