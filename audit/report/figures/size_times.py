"""Times at the claimed size and at those beside it, on one log axis, each size with its floors."""

from __future__ import annotations

from collections.abc import Iterator

from audit.measure.samples import median_ms
from audit.model import Record, Shape
from audit.report import evidence, size_times, times
from audit.report.drawing import WIDE, Drawing, Part, Scale, Stroke, Words
from audit.report.figures import raster
from audit.report.figures.times import HEAD, LEFT, RIGHT, ROW, floors, legend, row
from audit.report.messages import joined, message
from audit.report.quantities import milliseconds, shape
from audit.report.view import Figure

NAME = "size_times"
MOST_ROWS = 12
"""Callables of a size in a record of others; ours have up to eight."""


def draw(record: Record) -> Figure | None:
    """Return the lines of each size; None where no other size was timed."""
    found = [(size, at, _times(at)) for size, at in size_times.by_size(record)]
    values = [ms for _, at, known in found for ms in (*known.values(), *(low for _, low in floors(at)))]
    if not values:
        return None
    scale, top = Scale(min(values) / 1.3, max(values) * 1.3, LEFT, WIDE - RIGHT), float(HEAD)
    parts = [*legend()]
    for size, at, known in found:
        parts += _group(size, at, known, top, scale)
        top += ROW * (len(known) + 1.5)
    parts += scale.axis(top, message("times.axis"))
    drawing = Drawing(top + 40, tuple(parts))
    alt = message("times.sizes_alt", times=joined("semicolon", (_told(size, known) for size, _, known in found)))
    caption = message("times.sizes_caption", device=record.device.name)
    return Figure(name=NAME, alt=alt, caption=caption, png=raster.png(drawing), drawing=drawing)


def _times(record: Record) -> dict[str, float]:
    names = times.by_time(record)[:MOST_ROWS]
    return {name: ms for name in names if (ms := median_ms(record.measurements, name))}


def _group(size: Shape, record: Record, known: dict[str, float], top: float, scale: Scale) -> Iterator[Part]:
    """Give the size, a dashed line for each of its floors, and a line for each callable."""
    yield Words(0, top + ROW / 2, shape(size), bold=True)
    for _, ms in floors(record):
        yield Stroke((scale.at(ms), top), (scale.at(ms), top + ROW * (len(known) + 1)), "text", 1.2, dashed=True)
    for place, (name, ms) in enumerate(known.items()):
        yield from row(record, name, ms, top + ROW * (place + 1.5), scale)


def _told(size: Shape, known: dict[str, float]) -> str:
    entries = (
        message("form.step_ratio", step=evidence.callable_title(name), ratio=milliseconds(ms))
        for name, ms in known.items()
    )
    return message("form.step_ratio", step=shape(size), ratio=joined("comma", entries))
