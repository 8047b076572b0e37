"""Published numbers on their way to figures: times in milliseconds, the evidence for their unit, names of GPUs.

KernelBench's results are the trap: a comment in its `eval.py` says that `runtime` is in µs, the code fills it from
`elapsed_time`, which is in ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.claims.importers.facts import Figure, Given, Missing
from audit.model import gpus
from audit.model.errors import BadInput

FACTORS = {"ms": 1.0, "us": 1e-3, "s": 1e3, "ns": 1e-6}
"""Milliseconds of one unit."""
SHORTEST_US = 1.0
"""A launch alone takes longer on any GPU, so a smaller number is no time in µs."""
LONGEST_MS = 60_000.0
"""Nobody runs a hundred trials of a minute each."""
LARGEST = 1e300
"""No published number comes near it, and every integer below it is a float."""
_SPELLED = {"ms": "ms", "msec": "ms", "millisecond": "ms", "milliseconds": "ms", "us": "us", "µs": "us", "usec": "us",
            "microsecond": "us", "microseconds": "us", "s": "s", "seconds": "s", "ns": "ns"}  # fmt: skip


def gpu_named(text: Any) -> str | None:
    """Return the GPU of our table that a name means, `H100` for `NVIDIA H100 80GB HBM3`; else the name itself."""
    if not isinstance(text, str) or not text.strip():
        return None
    return gpus.described(text.strip())


def times(
    published: Mapping[str, float],
    *,
    given: Given,
    gpu: Any,
    where: str,
    named: Any = None,
    statistics: Any = None,
) -> tuple[list[Figure], list[Missing]]:
    """Return the times as figures in ms, or the missing fact where their unit is unknown.

    A time named "runtime" is the kernel's, any other name is a baseline's; `gpu` is the one that the source names.
    For `named` and `statistics` see `concluded`.
    """
    if not published:
        return [], []
    found = concluded(published, given=given.unit, named=named, statistics=statistics)
    if found is None:
        shown = ", ".join(f"{name} = {value:g}" for name, value in published.items())
        return [], [Missing(f"the unit of {shown} cannot be told", "observation", argument=("unit", "ms or us"))]
    unit, why = found
    card = gpu_named(given.gpu or gpu)
    figures = []
    for name, value in published.items():
        about = "kernel" if name == "runtime" else name
        concluded_from = f"{where}, {name} = {value:g} {unit}: {why}"
        figures.append(Figure(about, value * FACTORS[unit], "ms", card, concluded_from))
    return figures, []


def positive(value: Any) -> bool:
    """Return whether that is a finite number above zero; JSON may hold anything, integers of a thousand digits too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < LARGEST


def checked(value: Any, *, where: str) -> float:
    """Return a published time or ratio. Raises BadInput for what is none; `where` begins the sentence."""
    if not positive(value):
        raise BadInput(f"{where} = {str(value)[:20]} is no time or ratio; it must be finite and above zero")
    return float(value)


def ratio(about: str, value: float, *, given: Given, gpu: Any, where: str) -> Figure:
    """Return a published ratio baseline time / kernel time."""
    return Figure(about, value, "ratio", gpu_named(given.gpu or gpu), where)


def unit_of(text: str) -> str:
    """Return the unit of a spelling. Raises BadInput listing the known ones."""
    unit = _SPELLED.get(text.strip().lower())
    if unit is None:
        raise BadInput(f"unit {text[:20]!r}: unknown; known: {', '.join(FACTORS)}")
    return unit


def concluded(
    times: Mapping[str, float], *, given: str | None, named: Any = None, statistics: Any = None
) -> tuple[str, str] | None:
    """Return the unit of times that were published together, and from what it is known; None where nothing decides it.

    Args:
        times: the published numbers by name, positive.
        given: what the user says; it counts before all else.
        named: a unit the source names beside them.
        statistics: KernelBench's `runtime_stats` of the time called "runtime", if it is there.

    Raises:
        BadInput: an unknown unit.
    """
    if given is not None:
        return unit_of(given), "as the user says"
    if isinstance(named, str):
        return unit_of(named), f"the source names it: {named[:20]}"
    mean = statistics.get("mean") if isinstance(statistics, dict) else None
    if isinstance(mean, int | float) and 0 < mean < LARGEST and "runtime" in times:
        return _beside_statistics(times["runtime"] / mean)
    return _by_size(times)


def _beside_statistics(ratio: float) -> tuple[str, str] | None:
    """KernelBench's statistics come from CUDA events, which count milliseconds."""
    if abs(ratio - 1.0) < 0.01:
        return "ms", "runtime is the mean of runtime_stats, which KernelBench fills from CUDA events in ms"
    if abs(ratio / 1e3 - 1.0) < 0.01:
        return "us", "runtime is a thousand times the mean of runtime_stats, which is in ms"
    return None


def _by_size(times: Mapping[str, float]) -> tuple[str, str] | None:
    name, smallest = min(times.items(), key=lambda item: item[1])
    other, largest = max(times.items(), key=lambda item: item[1])
    if smallest < SHORTEST_US and largest <= LONGEST_MS:
        return "ms", f"{name} = {smallest:g} in µs would be shorter than the launch of any kernel"
    if largest > LONGEST_MS and smallest >= SHORTEST_US:
        return "us", f"{other} = {largest:g} in ms would be longer than a minute"
    return None
