"""Two self-tests of one kind of device: whether the auditor still answers about every control as it did."""

from __future__ import annotations

from audit.errors import BadInput
from audit.selftest.record import Row, SelfTest

OPEN = "skipped"
"""What a machine cannot answer, for want of Triton say, differs for a good reason."""


def differences(now: SelfTest, before: SelfTest) -> list[str]:
    """One sentence a control whose result changed, or that only one of the two asked; empty where none did.

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
        if result != known and OPEN not in (result, known):
            told.append(f"{place}: {known} before, {result} now {ours[place].reason}".rstrip())
    return sorted(told)


def _by_place(record: SelfTest) -> dict[str, Row]:
    return {f"{row.folder}/{row.control}": row for row in record.rows}
