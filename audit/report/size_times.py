"""Times at sizes beside the claimed one: a record of each size, and for which sizes a ratio holds."""

from __future__ import annotations

from math import prod

from pydantic import JsonValue

from audit.judge.answers import BASELINE, FLOOR
from audit.judge.causes import sizes_of
from audit.judge.evidence import objects
from audit.measure import OURS, sizes
from audit.measure.comparison import AGAIN
from audit.measure.floors import FLOOR_HERE as HERE
from audit.measure.samples import SIZED
from audit.model import Finding, Record, Shape
from audit.report import evidence
from audit.report.messages import joined, message
from audit.report.quantities import NOT_MEASURED, shape

MOST = 8
"""Sizes of a record of others; ours have three."""


def measured(record: Record) -> Finding | None:
    """Return what is known of the other sizes; None where they were not asked about."""
    return next((one for one in record.findings if one.probe == sizes.NAME), None)


def by_size(record: Record) -> list[tuple[Shape, Record]]:
    """Return for each size that was timed a record in which it is the claimed one, the claimed size among them, the
    smallest first; empty where no other size was timed."""
    found, claimed = measured(record), record.claim.statement.shapes.claimed
    entries = objects(found.evidence.get("sizes"))[:MOST] if found else []
    known = [(size, about) for about in entries if (size := sizes_of(about.get("sizes"))) is not None]
    others = [(size, _at(record, size, about)) for size, about in known if size.keys() == claimed.keys()]
    timed = [(one, at) for one, at in others if at.measurements]
    names = {one.variant for _, at in timed for one in at.measurements}
    here = (one for one in record.measurements if one.protocol != SIZED)
    own = tuple(one for one in here if one.variant in names or one.variant.startswith(AGAIN))
    every = [(claimed, record.model_copy(update={"measurements": own})), *timed] if timed else []
    return sorted(every, key=lambda one: prod(one[0].values()))


def told(record: Record, name: str) -> str:
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
