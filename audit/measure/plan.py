"""Which callables are timed in which session: what passed beside the baselines, and the claimed kernel apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from audit.build.device import BuiltVariant
from audit.measure.comparison import rivals
from audit.measure.samples import median_ms
from audit.measure.timing import LADDER, LATER, Session, Times


def times(
    session: Session, built: Mapping[str, BuiltVariant], *, passed: Collection[str], baselines: bool = True
) -> Times:
    """Time every passing build and the baselines in interleaved blocks, then the claimed kernel unverified. Other
    variants that did not pass are not timed. Without `baselines`, in a later session, eager and the strongest known
    ones are timed."""
    sound = {name: one for name, one in built.items() if name in passed}
    if baselines:
        session.prepare()
        session.interleaved(LADDER, sound, baselines=None)
    elif sound:
        session.rotate()
        session.interleaved(LATER, sound, baselines=rivals(session.claim, session.known, sound))
    claimed = session.claim.claimed
    if claimed is not None and claimed.name in built:
        if claimed.name in sound:
            session.alone(claimed.name, built[claimed.name])
        session.unverified(claimed.name, built[claimed.name])
    return session.taken()


def repeated(session: Session, built: Mapping[str, BuiltVariant], *, passed: Collection[str]) -> Times:
    """Time the variant whose ratio a report states in further processes, after `times`: the claim if it passed, else
    the fastest passing variant of its precision."""
    claimed = session.claim.claimed
    precision = claimed.precision if claimed else None
    fit = [one.name for one in session.claim.variant if one.name in passed and one.precision == precision]
    timed = {name: ms for name in fit if name in built and (ms := median_ms(session.known, name)) is not None}
    if claimed and timed:
        name = claimed.name if claimed.name in timed else min(timed, key=lambda one: timed[one])
        session.repeat(name, built[name])
    return session.taken()
