"""Raw samples of times on a real GPU, and statistics derived from them.

Which callables are timed in which session stands here: what passed beside the baselines, and the claimed kernel apart.
"""

from collections.abc import Collection, Mapping, Sequence

from audit.build.device import BuiltVariant
from audit.measure import sizes
from audit.measure.comparison import Comparison, compared, rivals, strongest, wrong_baselines
from audit.measure.samples import DO_BENCH, OURS, median_ms, speedup
from audit.measure.timing import LADDER, LATER, Session, Times

__all__ = [
    "DO_BENCH", "OURS", "Comparison", "Session", "Times", "compared", "leading", "median_ms", "repeated", "speedup",
    "strongest", "times", "wrong_baselines",
]  # fmt: skip


def times(
    session: Session, built: Mapping[str, BuiltVariant], *, passed: Collection[str], baselines: bool = True
) -> Times:
    """Time every passing build and the baselines in interleaved blocks, then the claimed kernel unverified, no other
    that did not pass. Without `baselines`, in a later session, eager and the strongest known ones are timed."""
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


def repeated(session: Session, built: Mapping[str, BuiltVariant], names: Sequence[str]) -> Times:
    """Time the variant whose ratio a report states, the first of `leading`, in further processes, after `times`; and at
    sizes beside the claimed one the first two."""
    session.repeat(names[0], built[names[0]])
    again, other = session.taken(), sizes.times(session, {name: built[name] for name in names[:2]})
    return Times((*again.measurements, *other.measurements), (*again.findings, *other.findings))


def leading(session: Session, built: Mapping[str, BuiltVariant], passed: Collection[str]) -> list[str]:
    """Return the variants of the claimed precision that passed and were timed: the claim, then the fastest first."""
    claimed = session.claim.claimed
    fit = [one.name for one in session.claim.variant if claimed and one.precision == claimed.precision]
    own = [name for name in fit if name in passed and name in built]
    timed = {name: ms for name in own if (ms := median_ms(session.known, name)) is not None}
    return sorted(timed, key=lambda name: (claimed is None or name != claimed.name, timed[name]))
