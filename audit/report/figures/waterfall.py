"""The published ratio beside those that can be defended, as bars on a log axis that start at one."""

from __future__ import annotations

from matplotlib.axes import Axes

from audit.model import Record
from audit.report import waterfall
from audit.report.figures import canvas
from audit.report.messages import joined, message
from audit.report.view import Figure
from audit.report.waterfall import Step

NAME = "waterfall"
PUBLISHED, DEFENDED, DOUBTED = canvas.ORANGE, canvas.BLUE, canvas.GREY


def draw(record: Record) -> Figure | None:
    """Return a bar for each step; None without steps."""
    steps = waterfall.steps(record)
    if not steps:
        return None
    with canvas.style():
        sheet = canvas.sheet(8.4, 1.1 + 0.62 * len(steps))
        axis = sheet.subplots()
        for height, step in enumerate(steps):
            _bar(axis, height, step, published=height == 0)
        _axes(axis, steps)
        png = canvas.png(sheet)
    ratios = joined("semicolon", (message("form.step_ratio", step=step.label, ratio=step.words()) for step in steps))
    caption = message("waterfall.caption", device=record.device.name)
    return Figure(name=NAME, alt=message("waterfall.alt", steps=ratios), caption=caption, png=png)


def _bar(axis: Axes, height: int, step: Step, *, published: bool) -> None:
    value = step.value or 1.0
    colour = PUBLISHED if published else DOUBTED if step.note else DEFENDED
    axis.barh(height, value - 1, left=1, height=0.6, color=colour, zorder=2)
    if step.low is not None and step.high is not None:
        axis.plot([step.low, step.high], [height, height], color=canvas.INK, linewidth=2.5, zorder=3)
    words = canvas.label(step.words(), limit=60)
    axis.annotate(
        words, (max(value, 1.0), height), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9.5
    )


def _label(step: Step) -> str:
    name, _, rival = step.label.partition(" against ")
    return canvas.label(name, limit=44) + (f"\nagainst {canvas.label(rival, limit=44)}" if rival else "")


def _axes(axis: Axes, steps: tuple[Step, ...]) -> None:
    values = [step.value for step in steps if step.value is not None]
    canvas.log_axis(axis, min(0.8, *values), max(2.0, *values) * 6, "times faster than the baseline (log scale)",
                    unit="x")  # fmt: skip
    axis.axvline(1, color=canvas.GREY, linewidth=1)
    axis.set_ylim(len(steps) - 0.5, -0.5)
    axis.set_yticks(range(len(steps)), [_label(step) for step in steps])
