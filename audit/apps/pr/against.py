"""HEAD against BASE: the ratio with its interval where both were timed side by side, else why there is none."""

from __future__ import annotations

from typing import Literal, NamedTuple

from audit.apps.pr.claim import BASE
from audit.measure import compared
from audit.model import Record, Rung
from audit.report.quantities import NOT_MEASURED

SLOWER = "slower"
"""The state that `--fail-on` takes beside the verdicts: the whole interval is more than 2 % below one."""
State = Literal["faster", "slower", "same", "inconclusive", "not measured"]
STANDS = {"failed": "is wrong itself", "undefined": "has undefined behaviour itself"}


class Against(NamedTuple):
    """The state of HEAD against BASE, and one sentence."""

    state: State
    sentence: str


def against(record: Record) -> Against:
    """Return how the claimed kernel of a record stands against its base."""
    claimed = record.claim.statement.claimed
    found = compared(record.measurements, claimed.name, BASE) if claimed else None
    if found is not None:
        means = {"faster": "HEAD is faster than BASE", "slower": "HEAD is slower than BASE",
                 "same": "no difference of 2 % or more"}.get(found.word)  # fmt: skip
        text = f"time of BASE over time of HEAD on {record.device.name}: {found.sentence()}"
        return Against(
            found.word, f"{text}: {means}." if means else f"{text}." if found.doubt else f"{text}: inconclusive."
        )
    return Against("not measured", f"{NOT_MEASURED}: {_why(record)}.")


def _why(record: Record) -> str:
    rungs = {one.role: one for one in record.ladder}
    base, head = rungs.get(BASE), rungs.get("claimed")
    if base is not None and base.state != "passed":
        return _stands("BASE", base, record)
    if head is not None and head.state != "passed":
        return _stands("HEAD", head, record)
    return (
        f"{record.device.name} gives no times" if record.device.kind == "emulated" else "the timing session gave none"
    )


def _stands(side: str, rung: Rung, record: Record) -> str:
    refused = (one for one in record.environment.builds if one.variant == rung.variant)
    if any(one.outcome == "does not compile" for one in refused):
        return f"{side} does not build ({rung.reason.rstrip('.')})"
    stands = STANDS.get(rung.state, "did not pass")
    stands = stands.removesuffix(" itself") if side == "HEAD" else stands
    return f"{side} {stands} ({rung.reason.rstrip('.')})"
