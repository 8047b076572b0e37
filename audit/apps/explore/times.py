"""Distributions of times: every sample of the variant and of the baselines it is held against, with the floors."""

from __future__ import annotations

from statistics import median

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from audit.apps.explore.choice import Choice
from audit.apps.explore.maps import absent
from audit.measure import OURS, samples
from audit.measure.comparison import PREFIX, precision_of
from audit.model import Measurement, Record
from audit.report.figures import canvas
from audit.report.quantities import NOT_MEASURED, milliseconds
from audit.report.view import Figure
from audit.report.waterfall import floors_ms

NAME = "times"
LANES = 7
"""Samples are drawn in so many lanes, in the order they were taken, so that equal ones do not cover each other."""
TICKS_APART = 30
"""From this ratio of the largest to the smallest time on, two ticks a decade are enough."""


def draw(record: Record, choice: Choice) -> Figure:
    """One line a callable; the time of a kernel that did not pass is unverified and makes no ratio."""
    ours = samples.found(record.measurements, choice.variant)
    published = [one for one in record.measurements if one.variant == choice.variant]
    own = [ours[-1]] if ours else published
    if not own:
        why = "the emulated device gives no times" if record.device.kind == "emulated" else "nothing timed it here"
        return absent(NAME, f"Times of {choice.variant}: {NOT_MEASURED}; {why}.")
    lines = [*own, *_rivals(record, choice.variant)]
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.4 + 0.5 * len(lines))
        axis = sheet.subplots()
        for height, one in enumerate(lines):
            _line(axis, height, one, own=height < len(own))
        _floors(axis, record)
        _axes(axis, lines)
        png = canvas.png(sheet)
    text = "; ".join(
        f"{one.variant}: median {milliseconds(median(one.samples_ms))} of {len(one.samples_ms)}, "
        f"{milliseconds(min(one.samples_ms))} to {milliseconds(max(one.samples_ms))}"
        for one in lines
    )
    passed = any(rung.variant == choice.variant and rung.state == "passed" for rung in record.ladder)
    note = "" if passed else f" {choice.variant} did not pass: an unverified timing, no speedup of it is reported."
    caption = f"Every sample on {record.device.name}, and medians.{note}"
    return Figure(name=NAME, alt=f"{caption} {text}.", caption=caption, png=png)


def _rivals(record: Record, variant: str) -> list[Measurement]:
    """The baselines of the variant's precision or better, under our protocol."""
    precision = next(one.precision for one in record.claim.statement.variant if one.name == variant)
    names = dict.fromkeys(one.variant for one in record.measurements if one.variant.startswith(PREFIX))
    fit = [name for name in names if precision != "fp32" or precision_of(name) == "fp32"]
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


def _axes(axis: Axes, lines: list[Measurement]) -> None:
    names = [
        canvas.label(one.variant) + ("" if one.protocol == OURS else f"\n{canvas.label(one.protocol, limit=60)}")
        for one in lines
    ]
    axis.set_yticks(range(len(lines)), names)
    axis.set_ylim(len(lines) - 0.4, -0.6)
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    close = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if high / low > TICKS_APART else close))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel("time of one call (ms, log scale)")
    axis.tick_params(axis="y", length=0)
