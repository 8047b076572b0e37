"""Measured times with their intervals against the floors of the stated work, on a log axis of milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

from audit.measure.comparison import PREFIX
from audit.measure.samples import found, median_ms
from audit.model import Record
from audit.report import evidence, times, waterfall
from audit.report.drawing import LATIN, SMALL, WIDE, Dot, Drawing, Part, Scale, Stroke, Words
from audit.report.figures import canvas, raster
from audit.report.messages import joined, message
from audit.report.quantities import milliseconds
from audit.report.view import Figure
from audit.run.ratios import interval

NAME = "times"
HEAD, ROW, LEFT, RIGHT = 50, 20, 190, 84
GAP = 4
"""Between a floor's line and its time, which stands beside the line of a lower floor too."""


def draw(record: Record) -> Figure | None:
    """Return a line for each baseline and each variant that passed; None where nothing was timed."""
    names = times.by_time(record)[: canvas.MOST_LINES]
    known = {name: ms for name in names if (ms := median_ms(record.measurements, name))}
    if not known:
        return None
    values = [*known.values(), *(ms for _, ms in floors(record))]
    scale = Scale(min(values) / 1.3, max(values) * 1.3, LEFT, WIDE - RIGHT)
    bottom = HEAD + ROW * len(known)
    parts = [*legend(), *floor_lines(record, scale, bottom)]
    for place, (name, ms) in enumerate(known.items()):
        parts += row(record, name, ms, HEAD + ROW * (place + 0.5), scale)
    parts += scale.axis(bottom, message("times.axis"))
    drawing = Drawing(bottom + 40, tuple(parts))
    told = (
        message("form.step_ratio", step=evidence.callable_title(name), ratio=milliseconds(ms))
        for name, ms in known.items()
    )
    alt = message("times.figure_alt", times=joined("semicolon", told))
    caption = message("times.figure_caption", device=record.device.name)
    return Figure(name=NAME, alt=alt, caption=caption, png=raster.png(drawing), drawing=drawing)


def legend() -> Iterator[Part]:
    """Give the key of the dots."""
    yield Dot(10, 10, 5, "cool", "cool")
    yield Words(22, 10, message("times.variant_key"), size=SMALL, wide=LEFT - 22)
    yield Dot(10, 28, 5, "page", "text")
    yield Words(22, 28, message("times.baseline_key"), size=SMALL, wide=LEFT - 22)


def floors(record: Record) -> list[tuple[str, float]]:
    """Return the known floors of the record's own GPU in milliseconds, by the ids of their messages."""
    fp32, any_unit = waterfall.floors_ms(record)
    return [(key, ms) for key, ms in (("times.any_floor", any_unit), ("times.fp32_floor", fp32)) if ms and ms > 0]


def floor_lines(record: Record, scale: Scale, bottom: float) -> Iterator[Part]:
    """Give a dashed line for each floor, with its time above and right of it, or left where there is no room."""
    for place, (key, ms) in enumerate(floors(record)):
        x, y = scale.at(ms), 10.0 + 18 * place
        text = message(key, time=milliseconds(ms))
        late = x + GAP + len(text) * SMALL * LATIN > WIDE
        yield Stroke((x, y + 8), (x, bottom), "text", 1.2, dashed=True)
        beside, wide = (x - GAP, x - GAP) if late else (x + GAP, WIDE - x - GAP)
        yield Words(beside, y, text, size=SMALL, anchor="end" if late else "start", wide=wide)


def row(record: Record, name: str, ms: float, middle: float, scale: Scale) -> Iterator[Part]:
    """Give the name of a callable, its time with the interval, and its median."""
    rival = name.startswith(PREFIX)
    yield Words(LEFT - 12, middle, evidence.callable_title(name), size=SMALL, anchor="end", wide=LEFT - 12)
    yield Stroke((scale.left, middle), (scale.right, middle), "line")
    bounds = interval(found(record.measurements, name)[-1])
    if bounds is not None:
        yield Stroke((scale.at(bounds[0]), middle), (scale.at(bounds[1]), middle), "text", 2.5)
    yield Dot(scale.at(ms), middle, 5, "page" if rival else "cool", "text" if rival else "cool")
    yield Words(WIDE, middle, milliseconds(ms), size=SMALL, anchor="end", wide=RIGHT - 4)
