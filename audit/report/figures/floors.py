"""The reported time of each GPU named against what its data sheet allows, on a log axis of milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.drawing import SMALL, WIDE, Box, Paint, Part, Scale, Words, cross, legend
from audit.report.figures import raster
from audit.report.messages import joined, message, milliseconds
from audit.report.view import Figure

NAME = "floors"
KEYS = ("matrix_unit_floor_ms", "floor_ms", "reported_kernel_ms")
DRAWN_MS = (1e-12, 1e12)
"""The range of the axis."""
TALL, BAR = 68, 16


def draw(record: Record) -> Figure | None:
    """Return a bar for each GPU; None where no GPU has a floor for a time, or for the arithmetic behind a ratio."""
    timed = (one for one in record.findings if one.probe == "floor" and _ms(one, "floor_ms"))
    found = [one for one in timed if any(_ms(one, key) for key in ("reported_kernel_ms", "compute_floor_ms"))]
    if not found:
        return None
    found = found[: raster.MOST_LINES]
    values = [value for one in found for key in KEYS if (value := _ms(one, key))]
    scale = Scale(min(values) / 2, max(values) * 2, 4, WIDE - 4)
    parts, head = _legend(found)
    for place, finding in enumerate(found):
        parts += _row(record, finding, head + TALL * place, scale)
    bottom = head + TALL * len(found)
    parts += scale.axis(bottom, message("times.axis"))
    alt = message("floors.alt", gpus=joined("blank", (_told(one, "floors.reported", "floors.needed") for one in found)))
    return raster.figure(NAME, bottom + 40, parts, alt=alt, caption=message("floors.caption"))


def _legend(found: list[Finding]) -> tuple[list[Part], int]:
    """Return the key of what is drawn, and its height."""
    units = any(low and low < (_ms(one, "floor_ms") or 0.0) for one in found for low in [_ms(one, KEYS[0])])
    keys: list[tuple[Paint, str, bool]] = [("warm", message("floors.none_key"), False)]
    keys += [("pale", message("floors.units_key"), False)] if units else []
    keys += [("cool", message("floors.fp32_key"), False)]
    parts, head = [*legend(tuple(keys))], 18 * len(keys) + 6
    if not any(_ms(one, "reported_kernel_ms") for one in found):
        return parts, head
    middle = head + 3
    return [*parts, *cross(10, middle, 5), Words(28, middle, message("floors.reported_key"), size=SMALL)], head + 18


def _row(record: Record, finding: Finding, top: float, scale: Scale) -> Iterator[Part]:
    """Give the GPU with its ratio, what is reported beside the floors, and the ranges that they part."""
    claimed = evidence.claimed_ratio(record, finding.target)
    yield Words(0, top + 11, message("floors.claimed", gpu=finding.target, ratio=claimed), bold=True)
    yield Words(0, top + 28, _told(finding, "floors.reported_beside", "floors.needed_beside"), size=SMALL)
    bar, floor = top + 40, _ms(finding, "floor_ms") or 1.0
    any_unit, fp32 = (scale.at(value) for value in (_ms(finding, "matrix_unit_floor_ms") or floor, floor))
    yield Box(scale.left, bar, any_unit - scale.left, BAR, "warm")
    yield Box(any_unit, bar, fp32 - any_unit, BAR, "pale")
    yield Box(fp32, bar, scale.right - fp32, BAR, "cool")
    reported = _ms(finding, "reported_kernel_ms")
    if reported:
        yield from cross(scale.at(reported), bar + BAR / 2, 6)


def _ms(finding: Finding, key: str) -> float | None:
    """Return a time within the range of the axis."""
    value = evidence.real(finding, key)
    return float(value) if value is not None and DRAWN_MS[0] < value < DRAWN_MS[1] else None


def _told(finding: Finding, with_time: str, without: str) -> str:
    """Return the floor beside the reported time, or without one beside the baseline that the ratio needs."""
    about = {"gpu": finding.target, "floor": milliseconds(evidence.real(finding, "floor_ms"))}
    reported = evidence.real(finding, "reported_kernel_ms")
    if reported:
        return message(with_time, time=milliseconds(reported), **about)
    return message(without, needed=milliseconds(evidence.real(finding, "baseline_needed_ms")), **about)
