"""From the published ratio down to the defensible one: bars on a log axis from one, each beside what it lost."""

from __future__ import annotations

from collections.abc import Iterator

from audit.model import Record
from audit.report import waterfall
from audit.report.drawing import SMALL, WIDE, Box, Paint, Part, Scale, Stroke, Words
from audit.report.figures import raster
from audit.report.messages import joined, message
from audit.report.view import Figure
from audit.report.waterfall import Step

NAME = "waterfall"
HEAD, TALL, WITHOUT, BAR = 48, 92, 76, 16
"""Heights of the legend, of a step, of one without a ratio, and of a bar."""
PAINTS: dict[str, Paint] = {"published": "warm", "limit": "quiet", "measured": "cool"}


def draw(record: Record) -> Figure | None:
    """Return a bar for each step; None without steps."""
    steps = waterfall.steps(record)
    if not steps:
        return None
    values = [value for step in steps for value in (step.value, step.limit) if value is not None]
    scale = Scale(min(0.8, *values), max(2.0, *values) * 1.1, 4, WIDE - 4, unit="x")
    claimed = record.claim.statement.claimed
    fp32 = claimed is not None and claimed.precision == "fp32"
    parts, top, before = [*_legend(steps, fp32=fp32)], float(HEAD), steps[0].value
    for step in steps:
        parts += _row(step, before, top, scale)
        top, before = top + (TALL if step.value else WITHOUT), step.value or before
    parts += scale.axis(top, message("waterfall.axis"))
    alt = message("waterfall.alt", steps=joined("semicolon", map(_in_words, steps)))
    return raster.figure(
        NAME, top + 40, parts, alt=alt, caption=message("waterfall.caption", device=record.device.name)
    )


def _legend(steps: tuple[Step, ...], *, fp32: bool) -> Iterator[Part]:
    yield Box(0, 4, 20, 12, "pale", "warm", dashed=True)
    yield Words(28, 10, message("waterfall.lost_key"), size=SMALL)
    if any(step.limit for step in steps):
        yield Stroke((10, 21), (10, 35), "text", 1.5, dashed=True)
        yield Words(28, 28, message("waterfall.limit_fp32_key" if fp32 else "waterfall.limit_any_key"), size=SMALL)


def _row(step: Step, before: float | None, top: float, scale: Scale) -> Iterator[Part]:
    """Give the label, the ratio, the times behind it, and the bar under them."""
    yield Words(0, top + 11, step.label, bold=True)
    yield Words(0, top + 28, step.words())
    if step.value is None:
        yield Words(0, top + 52, step.rests, "soft", SMALL, most=2)
        return
    yield Words(0, top + 45, step.rests, "soft", SMALL)
    one, end, bar = scale.at(1.0), scale.at(step.value), top + 58
    if before is not None and before > step.value:
        yield Box(end, bar, scale.at(before) - end, BAR, "pale", "warm", dashed=True)
    yield Box(min(one, end), bar, abs(end - one), BAR, "quiet" if step.note else PAINTS[step.kind])
    if step.low is not None and step.high is not None:
        yield Stroke((scale.at(step.low), bar + BAR / 2), (scale.at(step.high), bar + BAR / 2), "text", 2.5)
    if step.limit is not None and step.kind != "limit":
        yield Stroke((scale.at(step.limit), bar - 5), (scale.at(step.limit), bar + BAR + 5), "text", 1.5, dashed=True)
    yield Stroke((one, bar - 5), (one, bar + BAR + 5), "soft")


def _in_words(step: Step) -> str:
    told = {"step": step.label, "ratio": step.words()}
    return message("waterfall.step", rests=step.rests, **told) if step.rests else message("form.step_ratio", **told)
