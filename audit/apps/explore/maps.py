"""The figures of a choice: coverage, errors, times and waterfall; where there is no evidence a figure says why."""

from __future__ import annotations

import textwrap
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator

from audit.apps.explore.choice import ASKED, Choice, answers, found
from audit.judge.causes import shape_of
from audit.measure import OURS, samples
from audit.measure.comparison import PREFIX, precision_of
from audit.model import Finding, Measurement, Record, sanitizer
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.figures import coverage as map_of
from audit.report.figures import waterfall as published
from audit.report.quantities import NOT_MEASURED, milliseconds, number, shape
from audit.report.view import Figure
from audit.report.waterfall import floors_ms

ERRORS = "errors"
WRONG = LinearSegmentedColormap.from_list("wrong", ["#F6E3BF", canvas.ORANGE, "#B65200"])
DARK_FROM = 0.75
WIDTH = 78


def absent(name: str, text: str) -> Figure:
    """A sheet that holds one sentence, where there is nothing to draw."""
    words = canvas.label(sanitizer.line(text), limit=WIDTH * 5)
    lines = textwrap.wrap(words, WIDTH)
    with canvas.style():
        sheet = canvas.sheet(6.6, 0.5 + 0.24 * len(lines))
        sheet.text(0.02, 0.5, "\n".join(lines), ha="left", va="center", fontsize=10)
        return Figure(name=name, alt=words, caption=words, png=canvas.png(sheet))


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
    return map_of.drawn([(finding, words)], alt=text, caption=text)


def errors(record: Record, choice: Choice) -> Figure:
    """The share of wrong elements, one cell a shape and thread order; the worst element of the chosen shape below."""
    finding = found(record, ASKED, choice.variant, choice.device)
    cells = {(shape(one["shape"]), str(one["order"])): one for one in answers(finding)}
    if not cells:
        return absent(ERRORS, f"Errors of {choice.variant}: {_why(finding)}.")
    shapes = list(dict.fromkeys(place for place, _ in cells))
    orders = list(dict.fromkeys(order for _, order in cells))
    with canvas.style():
        sheet = canvas.sheet(max(6.6, 2.2 + 1.9 * len(orders)), 1.2 + 0.55 * len(shapes))
        axis = sheet.subplots()
        for (place, order), one in cells.items():
            _cell(axis, orders.index(order), shapes.index(place), one)
        _axes(axis, shapes, orders, choice.shape)
        axis.set_xlabel(_worst(cells, choice.shape), fontsize=9.5)
        png = canvas.png(sheet)
    text = "; ".join(f"{place}, {order}: {_words(one)}" for (place, order), one in cells.items())
    caption = f"Wrong elements of {choice.variant} on {choice.device}, by shape and thread order."
    return Figure(name=ERRORS, alt=f"{caption} {text}.", caption=caption, png=png)


def _why(finding: Finding | None) -> str:
    return finding.summary if finding else "not asked on this device"


def _cell(axis: Axes, column: int, row: int, one: dict[str, Any]) -> None:
    share = one["elements_wrong"] / one["elements"]
    face = WRONG(share) if share else canvas.BLUE
    ink = canvas.INK if 0 < share < DARK_FROM else "white"
    axis.add_patch(Rectangle((column + 0.02, row + 0.06), 0.96, 0.88, facecolor=face, edgecolor="none"))
    axis.text(column + 0.5, row + 0.5, _words(one), ha="center", va="center", color=ink, fontsize=9.5)


def _axes(axis: Axes, shapes: list[str], orders: list[str], chosen: str) -> None:
    axis.set_xlim(0, len(orders))
    axis.set_ylim(len(shapes), 0)
    axis.set_xticks([column + 0.5 for column in range(len(orders))], [f"thread order: {order}" for order in orders])
    axis.set_yticks([row + 0.5 for row in range(len(shapes))], [canvas.label(one, limit=30) for one in shapes])
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    if chosen in shapes:
        size = (len(orders) - 0.01, 0.98)
        axis.add_patch(Rectangle((0.005, shapes.index(chosen) + 0.01), *size, fill=False, edgecolor=canvas.INK, lw=1.6))


def _words(one: dict[str, Any]) -> str:
    if one["right"]:
        return "all right"
    return f"{number(one['elements_wrong'])} of\n{number(one['elements'])} wrong"


def _worst(cells: dict[tuple[str, str], dict[str, Any]], chosen: str) -> str:
    """The worst element at the chosen shape, in the order with most wrong ones."""
    here = [one for (place, _), one in cells.items() if place == chosen]
    worst = max(here, key=lambda one: one["elements_wrong"], default=None)
    if worst is None or worst["right"]:
        return f"{chosen}: every element within the tolerance"
    place = ", ".join(str(index) for index in worst["index"])
    expected, got = (one if isinstance(one, str) else f"{one:.6g}" for one in (worst["expected"], worst["got"]))
    return f"{chosen}: worst at [{place}], expected {expected}, got {got}"


TIMES = "times"
LANES = 7
"""Samples are drawn in so many lanes, in the order they were taken, so that equal ones do not cover each other."""
TICKS_APART = 30
"""From this ratio of the largest to the smallest time on, two ticks a decade are enough."""


def times(record: Record, choice: Choice) -> Figure:
    """One line a callable; the time of a kernel that did not pass is unverified and makes no ratio."""
    ours = samples.found(record.measurements, choice.variant)
    published = [one for one in record.measurements if one.variant == choice.variant]
    own = [ours[-1]] if ours else published
    if not own:
        why = "the emulated device gives no times" if record.device.kind == "emulated" else "nothing timed it here"
        return absent(TIMES, f"Times of {choice.variant}: {NOT_MEASURED}; {why}.")
    lines = [*own, *_rivals(record, choice.variant)]
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.4 + 0.5 * len(lines))
        axis = sheet.subplots()
        for height, one in enumerate(lines):
            _line(axis, height, one, own=height < len(own))
        _floors(axis, record)
        _time_axes(axis, lines)
        png = canvas.png(sheet)
    text = "; ".join(
        f"{one.variant}: median {milliseconds(median(one.samples_ms))} of {len(one.samples_ms)}, "
        f"{milliseconds(min(one.samples_ms))} to {milliseconds(max(one.samples_ms))}"
        for one in lines
    )
    passed = any(rung.variant == choice.variant and rung.state == "passed" for rung in record.ladder)
    note = "" if passed else f" {choice.variant} did not pass: an unverified timing, no speedup of it is reported."
    caption = f"Every sample on {record.device.name}, and medians.{note}"
    return Figure(name=TIMES, alt=f"{caption} {text}.", caption=caption, png=png)


def _rivals(record: Record, variant: str) -> list[Measurement]:
    """The baselines of the variant's precision or better, under our protocol."""
    precision = next(one.precision for one in record.claim.statement.variant if one.name == variant)
    names = dict.fromkeys(one.variant for one in record.measurements if one.variant.startswith(PREFIX))
    fit = [name for name in names if precision != "fp32" or precision_of(name, record.measurements) == "fp32"]
    return [taken[-1] for name in fit if (taken := samples.found(record.measurements, name, OURS))]


def _line(axis: Axes, height: int, one: Measurement, *, own: bool) -> None:
    colour = canvas.ORANGE if own else canvas.BLUE
    places = [height - 0.24 + 0.48 * (index % LANES) / (LANES - 1) for index in range(len(one.samples_ms))]
    axis.scatter(one.samples_ms, places, s=9, color=colour, alpha=0.6, linewidth=0, zorder=2)
    middle = median(one.samples_ms)
    axis.plot([middle, middle], [height - 0.36, height + 0.36], color=canvas.INK, linewidth=1.6, zorder=3)


def _floors(axis: Axes, record: Record) -> None:
    for floor, name, style in zip(floors_ms(record), ("fp32 floor", "matrix-unit floor"), ("--", ":"), strict=True):
        if floor is not None:
            label = f"{name}, {milliseconds(floor)}"
            axis.axvline(floor, color=canvas.GREY, linestyle=style, linewidth=1.2, label=label)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=9)


def _time_axes(axis: Axes, lines: list[Measurement]) -> None:
    names = [
        canvas.label(one.variant) + ("" if one.protocol == OURS else f"\n{canvas.label(one.protocol, limit=60)}")
        for one in lines
    ]
    axis.set_yticks(range(len(lines)), names)
    axis.set_ylim(len(lines) - 0.4, -0.6)
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    canvas.log_axis(axis, low, high, "time of one call (ms, log scale)")
    if high / low <= TICKS_APART:
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
