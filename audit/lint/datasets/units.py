"""Milliseconds or microseconds: what a column of times says itself, since comments beside it may be wrong."""

from __future__ import annotations

import pandas as pd

from audit.model.errors import BadInput

UNITS = ("ms", "us")
MS_PER = {"ms": 1.0, "us": 1e-3}
SHORTEST_US = 0.5
"""The resolution of CUDA events, about half a microsecond (CUDA Runtime API, cudaEventElapsedTime): nothing shorter is
measured with them, so a smaller number is no count of microseconds."""
LONGEST_MS = 600_000.0
"""Ten minutes: no benchmark waits so long for a call, so times that are all above it are no milliseconds."""


def of_times(times: pd.Series, *, told: str | None) -> tuple[str | None, str]:
    """The unit of published times, None where nothing decides, and the sentence that says why.

    Args:
        times: positive, NaN where there is none.
        told: what the user says; believed unless the times exclude it.

    Raises:
        BadInput: the user's unit is unknown, or excluded by the times.
    """
    if told is not None and told not in UNITS:
        raise BadInput(f"--unit {told}: unknown; known: {', '.join(UNITS)}")
    known = times.dropna()
    if known.empty:
        return None, "No times are published, only ratios."
    least = float(known.min())
    if least < SHORTEST_US:
        return _agreed(
            "ms", told, f"the shortest, {least:.3g}, would be under the {SHORTEST_US} µs CUDA events resolve"
        )
    if least > LONGEST_MS:
        return _agreed("us", told, f"the shortest, {least:.3g}, would be more than ten minutes in milliseconds")
    if told is not None:
        return told, f"Times are read as {told}, as asked."
    return None, (
        f"Nothing says whether times are ms or µs (the shortest is {least:.3g}); give --unit to have them held "
        "against the hardware. Ratios do not depend on it."
    )


def _agreed(unit: str, told: str | None, why: str) -> tuple[str, str]:
    if told not in (None, unit):
        raise BadInput(f"--unit {told}: the times cannot be that: {why}; leave the option out")
    return unit, f"Times are {unit}: {why}."
