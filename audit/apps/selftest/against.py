"""Two self-tests of one kind of device: whether the auditor still answers about every control as it did."""

from __future__ import annotations

from audit.apps.selftest.record import Row, SelfTest
from audit.model.errors import BadInput

OPEN = "skipped"
"""What a machine cannot answer, for want of Triton say, differs for a good reason."""


def differences(now: SelfTest, before: SelfTest) -> list[str]:
    """One sentence a control whose result or an answer about it changed, or that only one of the two asked.

    Raises:
        BadInput: the records are of different kinds of device.
    """
    if now.device.kind != before.device.kind:
        raise BadInput(f"--against: a record of the {before.device.kind} device, this one is {now.device.kind}")
    ours, theirs = _by_place(now), _by_place(before)
    told = [f"{place}: {theirs[place].result} before, not asked now" for place in theirs.keys() - ours.keys()]
    told += [f"{place}: {ours[place].result}, not asked before" for place in ours.keys() - theirs.keys()]
    for place in ours.keys() & theirs.keys():
        result, known = ours[place].result, theirs[place].result
        if OPEN in (result, known):
            continue
        if result != known:
            told.append(f"{place}: {known} before, {result} now {ours[place].reason}".rstrip())
        told += [f"{place}: {change}" for change in _changed(ours[place], theirs[place])]
    return sorted(told)


def _changed(now: Row, before: Row) -> list[str]:
    """The probes that both asked and that came out otherwise; a skip, for want of a tool say, is no change.

    Of a rogue only its own probe: what else it fails may hang on the moment, of a late thread or a race say.
    """
    asked = now.answers.keys() & before.answers.keys() & ({now.probe} if now.role == "rogue" else {*now.answers})
    both = [(probe, now.answers[probe], before.answers[probe]) for probe in sorted(asked)]
    return [
        f"{probe} {known.outcome} before, {told.outcome} now: {told.summary}".rstrip(": ")
        for probe, told, known in both
        if (told.outcome, told.grade) != (known.outcome, known.grade) and "skip" not in (told.outcome, known.outcome)
    ]


def _by_place(record: SelfTest) -> dict[str, Row]:
    return {f"{row.folder}/{row.control}": row for row in record.rows}
