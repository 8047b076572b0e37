"""Published numbers on their way to figures: names of GPUs, times in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.claims.importers import units
from audit.claims.importers.imported import Figure, Missing
from audit.claims.importers.material import Given
from audit.model import gpus
from audit.model.errors import BadInput


def gpu_named(text: Any) -> str | None:
    """The GPU of our table that a name means, `H100` for `NVIDIA H100 80GB HBM3`; else the name itself."""
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
    """The times as figures in ms, or what is missing where their unit cannot be told.

    Args:
        published: by what they are about: "runtime" is the kernel, any other name a baseline.
        given: what the user says about unit and GPU.
        gpu: the GPU that the source names.
        where: the place they stood in.
        named: see `units.concluded`.
        statistics: see `units.concluded`.
    """
    if not published:
        return [], []
    found = units.concluded(published, given=given.unit, named=named, statistics=statistics)
    if found is None:
        shown = ", ".join(f"{name} = {value:g}" for name, value in published.items())
        return [], [Missing(f"the unit of {shown} cannot be told", "observation", "import again with --unit ms or us")]
    unit, why = found
    card = gpu_named(given.gpu or gpu)
    figures = [
        Figure(_about(name), value * units.FACTORS[unit], "ms", card, f"{where}, {name} = {value:g} {unit}: {why}")
        for name, value in published.items()
    ]
    return figures, []


def positive(value: Any) -> bool:
    """Whether that is a finite number above zero; JSON may hold anything, integers of a thousand digits too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < units.LARGEST


def checked(value: Any, *, where: str) -> float:
    """A published time or ratio. Raises BadInput for what is none; `where` begins the sentence."""
    if not positive(value):
        raise BadInput(f"{where} = {str(value)[:20]} is no time or ratio; it must be finite and above zero")
    return float(value)


def ratio(about: str, value: float, *, given: Given, gpu: Any, where: str) -> Figure:
    """A published ratio baseline time / kernel time."""
    return Figure(about, value, "ratio", gpu_named(given.gpu or gpu), where)


def _about(name: str) -> str:
    return "kernel" if name == "runtime" else name
