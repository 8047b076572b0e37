"""Measured times with their intervals against the floors of the stated work, on a log axis of milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

from audit.measure.comparison import PREFIX
from audit.measure.samples import found, median_ms
from audit.model import Record
from audit.report import evidence, sizes, times, waterfall
from audit.report.drawing import LATIN, SMALL, WIDE, Dot, Part, Scale, Stroke, Words
from audit.report.figures import raster
from audit.report.messages import joined, message, milliseconds, shape
from audit.report.view import Figure
from audit.run.timing.ratios import interval

NAME, OF_SIZES = "times", "size_times"
HEAD, ROW, LEFT, RIGHT = 50, 20, 190, 84
WORDS = {
    NAME: ("times.figure_alt", "times.figure_caption"),
    OF_SIZES: ("size_times.figure_alt", "size_times.figure_caption"),
}
GAP = 4
"""Between a floor's line and its time, which stands beside the line of a lower floor too."""
MOST_ROWS = 12
"""Callables of a size in a record of others; ours have up to eight."""
Group = tuple[str, Record, dict[str, float]]
"""Callables of one shape: its title, the record of that shape, and their times in milliseconds."""


def draw(record: Record) -> Figure | None:
    """Return a line for each baseline and each variant that passed; None where nothing was timed."""
    return _drawn(NAME, record, [("", record, _times(record, raster.MOST_LINES))])


def of_sizes(record: Record) -> Figure | None:
    """Return the lines of each size, with its floors; None where no other size was timed."""
    return _drawn(OF_SIZES, record, [(shape(one), at, _times(at, MOST_ROWS)) for one, at in sizes.by_size(record)])


def _times(record: Record, most: int) -> dict[str, float]:
    return {name: ms for name in times.by_time(record)[:most] if (ms := median_ms(record.measurements, name))}


def _drawn(name: str, record: Record, groups: list[Group]) -> Figure | None:
    if not any(known for *_, known in groups):
        return None
    values = [ms for _, at, known in groups for ms in (*known.values(), *(floor for _, floor in floors(at)))]
    scale, top = Scale(min(values) / 1.3, max(values) * 1.3, LEFT, WIDE - RIGHT), float(HEAD)
    parts, told = [*_legend()], list[str]()
    for title, at, known in groups:
        parts += _group(title, at, known, top, scale)
        top += ROW * (len(known) + (1.5 if title else 0))
        of = [message("form.step_ratio", step=evidence.callable_title(one), ratio=milliseconds(ms))
              for one, ms in known.items()]  # fmt: skip
        told += [message("form.step_ratio", step=title, ratio=joined("comma", of))] if title else of
    parts += scale.axis(top, message("times.axis"))
    alt, caption = WORDS[name]
    alt, caption = message(alt, times=joined("semicolon", told)), message(caption, device=record.device.name)
    return raster.figure(name, top + 40, parts, alt=alt, caption=caption)


def _group(title: str, record: Record, known: dict[str, float], top: float, scale: Scale) -> Iterator[Part]:
    """Give a line for each callable; under a title, with the floors of that size alone."""
    if title:
        yield Words(0, top + ROW / 2, title, bold=True)
        for _, ms in floors(record):
            yield Stroke((scale.at(ms), top), (scale.at(ms), top + ROW * (len(known) + 1)), "text", 1.2, dashed=True)
        top += ROW
    else:
        yield from floor_lines(record, scale, top + ROW * len(known))
    for place, (name, ms) in enumerate(known.items()):
        yield from _row(record, name, ms, top + ROW * (place + 0.5), scale)


def _legend() -> Iterator[Part]:
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


def _row(record: Record, name: str, ms: float, middle: float, scale: Scale) -> Iterator[Part]:
    rival = name.startswith(PREFIX)
    yield Words(LEFT - 12, middle, evidence.callable_title(name), size=SMALL, anchor="end", wide=LEFT - 12)
    yield Stroke((scale.left, middle), (scale.right, middle), "line")
    bounds = interval(found(record.measurements, name)[-1])
    if bounds is not None:
        yield Stroke((scale.at(bounds[0]), middle), (scale.at(bounds[1]), middle), "text", 2.5)
    yield Dot(scale.at(ms), middle, 5, "page" if rival else "cool", "text" if rival else "cool")
    yield Words(WIDE, middle, milliseconds(ms), size=SMALL, anchor="end", wide=RIGHT - 4)
