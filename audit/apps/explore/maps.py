"""The figures of a choice: coverage, errors, times and waterfall; where there is no evidence a figure says why."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from audit.apps.explore.choice import ASKED, Choice, answers, found
from audit.judge.causes import shape_of
from audit.measure import OURS, samples
from audit.measure.comparison import PREFIX, precision_of
from audit.model import Finding, Measurement, Record, sanitizer
from audit.report import evidence
from audit.report.drawing import SMALL, WIDE, Box, Dot, Paint, Part, Scale, Stroke, Words
from audit.report.figures import coverage as map_of
from audit.report.figures import raster
from audit.report.figures import times as timed
from audit.report.figures import waterfall as published
from audit.report.quantities import NOT_MEASURED, milliseconds, number, shape
from audit.report.view import Figure

ERRORS, TIMES = "errors", "times"
HEAD, LEFT, ROW = 36, 120, 46
INKS: dict[Paint, Paint] = {"cool": "on-cool", "warm": "on-warm", "pale": "text"}
LANES = 7
"""Samples are drawn in so many lanes, in the order they were taken, so that equal ones do not cover each other."""


def absent(name: str, text: str) -> Figure:
    """A sheet that holds one sentence, where there is nothing to draw."""
    words = sanitizer.line(text)
    return raster.figure(name, 90, [Words(0, 45, words, most=5)], alt=words, caption=words, svg=False)


def waterfall(record: Record, _: Choice) -> Figure:
    """From the published ratio to the one that can be defended; the same for every choice."""
    why = f"{NOT_MEASURED}: no ratio is published for {record.device.name}, or nothing was timed on it"
    return published.draw(record) or absent(published.NAME, f"From the published ratio to the defensible one: {why}.")


def coverage(record: Record, choice: Choice) -> Figure:
    """The map of one variant on one device, dark where elements are written."""
    finding = found(record, map_of.NAME, choice.variant, choice.device)
    if finding is None or map_of.grid(finding) is None:
        return absent(map_of.NAME, f"Coverage of {choice.variant}: {_why(finding)}.")
    all_of, written = evidence.real(finding, "elements") or 0, evidence.real(finding, "elements_written") or 0
    words = f"{number(int(written))} of {number(int(all_of))}"
    sizes = shape_of(finding)
    where = f" at {shape(sizes)}" if sizes else ""
    text = f"Write coverage of {choice.variant}{where}, {choice.device}: {words} elements written."
    return map_of.drawn([(finding, finding.target, words)], alt=text, caption=text)


def errors(record: Record, choice: Choice) -> Figure:
    """The share of wrong elements, one cell a shape and thread order; the worst element of the chosen shape below."""
    finding = found(record, ASKED, choice.variant, choice.device)
    cells = {(shape(one["shape"]), str(one["order"])): one for one in answers(finding)}
    if not cells:
        return absent(ERRORS, f"Errors of {choice.variant}: {_why(finding)}.")
    shapes = list(dict.fromkeys(place for place, _ in cells))
    orders = list(dict.fromkeys(order for _, order in cells))
    wide, bottom = (WIDE - LEFT) / len(orders), HEAD + ROW * len(shapes)
    parts: list[Part] = [
        Words(LEFT + (column + 0.5) * wide, HEAD / 2, f"thread order: {order}", "text", SMALL, "middle", wide - 6, 2)
        for column, order in enumerate(orders)
    ]
    parts += [
        Words(LEFT - 8, HEAD + (row + 0.5) * ROW, place, "text", SMALL, "end", LEFT - 8, 2)
        for row, place in enumerate(shapes)
    ]
    for (place, order), one in cells.items():
        left, top = LEFT + orders.index(order) * wide, HEAD + shapes.index(place) * ROW
        parts += _cell(one, left, top, wide, chosen=place == choice.shape)
    parts.append(Words(0, bottom + 20, _worst(cells, choice.shape), size=SMALL, most=2))
    text = "; ".join(f"{place}, {order}: {_words(one)}" for (place, order), one in cells.items())
    caption = f"Wrong elements of {choice.variant} on {choice.device}, by shape and thread order."
    return raster.figure(ERRORS, bottom + 40, parts, alt=f"{caption} {text}.", caption=caption, svg=False)


def _why(finding: Finding | None) -> str:
    return finding.summary if finding else "not asked on this device"


def _cell(one: dict[str, Any], left: float, top: float, wide: float, *, chosen: bool) -> Iterator[Part]:
    """Give the cell of an answer, paler where only some elements are wrong, with an edge at the chosen shape."""
    wrong = one["elements_wrong"]
    face: Paint = "cool" if not wrong else "warm" if wrong == one["elements"] else "pale"
    yield Box(left + 2, top + 2, wide - 4, ROW - 4, face, "text" if chosen else "none")
    yield Words(left + wide / 2, top + ROW / 2, _words(one), INKS[face], SMALL, "middle", wide - 8, 2)


def _words(one: dict[str, Any]) -> str:
    if one["right"]:
        return "all right"
    return f"{number(one['elements_wrong'])} of {number(one['elements'])} wrong"


def _worst(cells: dict[tuple[str, str], dict[str, Any]], chosen: str) -> str:
    """The worst element at the chosen shape, in the order with most wrong ones."""
    here = [one for (place, _), one in cells.items() if place == chosen]
    worst = max(here, key=lambda one: one["elements_wrong"], default=None)
    if worst is None or worst["right"]:
        return f"{chosen}: every element within the tolerance"
    place = ", ".join(str(index) for index in worst["index"])
    expected, got = (one if isinstance(one, str) else f"{one:.6g}" for one in (worst["expected"], worst["got"]))
    return f"{chosen}: worst at [{place}], expected {expected}, got {got}"


def times(record: Record, choice: Choice) -> Figure:
    """One line a callable; the time of a kernel that did not pass is unverified and makes no ratio."""
    ours = samples.found(record.measurements, choice.variant)
    published = [one for one in record.measurements if one.variant == choice.variant]
    own = [ours[-1]] if ours else published
    if not own:
        why = "the emulated device gives no times" if record.device.kind == "emulated" else "nothing timed it here"
        return absent(TIMES, f"Times of {choice.variant}: {NOT_MEASURED}; {why}.")
    lines = [*own, *_rivals(record, choice.variant)]
    values = [*(ms for one in lines for ms in one.samples_ms), *(ms for _, ms in timed.floors(record))]
    scale = Scale(min(values) / 1.1, max(values) * 1.1, timed.LEFT, WIDE - 6)
    bottom = timed.HEAD + ROW * len(lines)
    parts = [*timed.floor_lines(record, scale, bottom)]
    for row, one in enumerate(lines):
        parts += _line(one, timed.HEAD + ROW * (row + 0.5), scale, "warm" if row < len(own) else "cool")
    parts += scale.axis(bottom, "time of one call (ms, log scale)")
    text = "; ".join(
        f"{one.variant}: median {milliseconds(median(one.samples_ms))} of {len(one.samples_ms)}, "
        f"{milliseconds(min(one.samples_ms))} to {milliseconds(max(one.samples_ms))}"
        for one in lines
    )
    passed = any(rung.variant == choice.variant and rung.state == "passed" for rung in record.ladder)
    note = "" if passed else f" {choice.variant} did not pass: an unverified timing, no speedup of it is reported."
    caption = f"Every sample on {record.device.name}, and medians.{note}"
    return raster.figure(TIMES, bottom + 40, parts, alt=f"{caption} {text}.", caption=caption, svg=False)


def _rivals(record: Record, variant: str) -> list[Measurement]:
    """The baselines of the variant's precision or better, under our protocol."""
    precision = next(one.precision for one in record.claim.statement.variant if one.name == variant)
    names = dict.fromkeys(one.variant for one in record.measurements if one.variant.startswith(PREFIX))
    fit = [name for name in names if precision != "fp32" or precision_of(name, record.measurements) == "fp32"]
    return [taken[-1] for name in fit if (taken := samples.found(record.measurements, name, OURS))]


def _line(one: Measurement, middle: float, scale: Scale, paint: Paint) -> Iterator[Part]:
    """Give the name, with another protocol than ours, every sample, and their median; one dot where several fall."""
    title = evidence.callable_title(one.variant)
    name = title if one.protocol == OURS else f"{title}, {one.protocol}"
    yield Words(timed.LEFT - 12, middle, name, "text", SMALL, "end", timed.LEFT - 12, 3)
    for at, lane in sorted({(round(scale.at(ms)), place % LANES) for place, ms in enumerate(one.samples_ms)}):
        yield Dot(at, middle - 9 + 18 * lane / (LANES - 1), 1.5, paint, "none")
    half = scale.at(median(one.samples_ms))
    yield Stroke((half, middle - 14), (half, middle + 14), "text", 2)
