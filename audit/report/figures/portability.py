"""The ratio claimed for each GPU beside the one measured there, on a log axis, or NOT MEASURED."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit.judge import BASELINE
from audit.measure import compared
from audit.model import Record
from audit.report.compare import fastest_passing, places, standing
from audit.report.drawing import SMALL, WIDE, Dot, Part, Scale, Stroke, Words
from audit.report.figures import raster
from audit.report.messages import NOT_MEASURED, ratio
from audit.report.view import Figure

HEAD, ROW = 46, 62
CAPTION = (
    "Claimed ratio of the claimed kernel, and measured ratio of the fastest passing fp32 variant against eager fp32; "
    "above them, how the claimed kernel came out."
)
Place = tuple[str, float | None, float | None, str]
"""A GPU, its claimed ratio, the measured one of the fastest passing fp32 variant, and the claimed kernel's standing."""


def draw(records: Sequence[Record]) -> Figure | None:
    """Return a line for each place; None where no ratio is claimed."""
    found = [_place(gpu, own, records) for gpu, own in places(records)][: raster.MOST_LINES]
    if not any(claimed for _, claimed, _, _ in found):
        return None
    lines = "; ".join(
        f"{gpu}: {_ratios(claimed, measured)}, claimed kernel {word}" for gpu, claimed, measured, word in found
    )
    values = [value for _, claimed, measured, _ in found for value in (claimed, measured) if value]
    scale = Scale(min(0.7, *values), max(2.0, *values) * 1.1, 6, WIDE - 6, unit="x")
    parts, bottom = [*_legend()], HEAD + ROW * len(found)
    for number, place in enumerate(found):
        parts += _row(place, HEAD + ROW * number, scale)
    parts += scale.axis(bottom, "times faster than the baseline, log scale")
    alt = f"Claimed and measured ratios per GPU on a log axis. {lines}."
    return raster.figure("portability", bottom + 40, parts, alt=alt, caption=CAPTION)


def _place(gpu: str, own: Record | None, records: Sequence[Record]) -> Place:
    published = next((one.ratio for one in records[0].claim.statement.ratios if one.gpu == gpu), None)
    name = fastest_passing(own)
    found = None if own is None or name is None else compared(own.measurements, name, BASELINE)
    word = standing(own, records) + (", ratio inconclusive" if found and found.doubt else "")
    return gpu, published, None if found is None else found.ratio.value, word


def _ratios(claimed: float | None, measured: float | None) -> str:
    return (
        f"claimed {ratio(claimed) if claimed else 'nothing'}, measured {ratio(measured) if measured else NOT_MEASURED}"
    )


def _legend() -> Iterator[Part]:
    yield Dot(10, 10, 5, "page", "warm")
    yield Words(22, 10, "claimed", size=SMALL)
    yield Dot(10, 28, 5, "cool", "cool")
    yield Words(22, 28, "measured, fastest passing fp32 variant", size=SMALL)


def _row(place: Place, top: float, scale: Scale) -> Iterator[Part]:
    gpu, claimed, measured, word = place
    yield Words(0, top + 11, f"{gpu}: {word}", bold=True)
    yield Words(0, top + 28, _ratios(claimed, measured), size=SMALL)
    yield Stroke((scale.left, top + 46), (scale.right, top + 46), "line")
    yield Stroke((scale.at(1), top + 40), (scale.at(1), top + 52), "soft")
    if claimed:
        yield Dot(scale.at(claimed), top + 46, 5, "page", "warm")
    if measured:
        yield Dot(scale.at(measured), top + 46, 5, "cool", "cool")
