"""Findings again, from the observations in a record alone: what `audit verify` holds a record's findings against."""

from __future__ import annotations

from collections.abc import Callable

from audit.measure import outputs
from audit.measure.comparison import TIMED_OUTPUTS
from audit.model import Finding, Record
from audit.model.record import SCHEMA
from audit.probes import CONCLUSIONS
from audit.probes.answer import Answer, Seen, finding

_CONCLUSIONS: dict[str, Callable[[Seen], Answer]] = {**CONCLUSIONS, TIMED_OUTPUTS: outputs.conclude}
_NOT_OBSERVED = ("seconds", "device", "reproduce_with", "confirmed")
"""What a finding says beside its observations: how long it took, where, and whether a second build showed the same."""


def unlike(record: Record) -> list[str]:
    """One sentence for each finding of a record that does not follow from its own observations.

    A finding without observations is no failure and no pass: it says why there are none. Records of older schemas hold
    too little to derive findings from, and findings of the source review, of builds and of floors have no observations.
    """
    if record.schema_ != SCHEMA:
        return []
    return [why for found in record.findings if (why := _unlike(found)) is not None]


def _unlike(found: Finding) -> str | None:
    conclude = _CONCLUSIONS.get(found.probe)
    if conclude is None:
        return None
    named = f"{found.probe} of {found.target}"
    if not found.evidence:
        return None if found.outcome in ("skip", "error") else f"{named}: {found.outcome} without observations"
    try:
        again = finding(found.probe, found.target, dict(found.evidence), conclude)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return f"{named}: its observations are not those of this question ({type(error).__name__}: {error})"
    kept = {name: getattr(found, name) for name in _NOT_OBSERVED}
    if again.model_copy(update=kept) == found:
        return None
    return f"{named}: its observations give {again.outcome}: {again.summary}"
