"""Choices in a record, and the figures of one: coverage, errors, times and waterfall.

A choice is a variant, a device that answered about it, and a shape it was asked at. Where there is no evidence a figure
says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from audit.judge.causes import shape_of
from audit.judge.evidence import objects
from audit.measure import OURS, samples
from audit.measure.comparison import PREFIX, precision_of
from audit.model import Finding, Measurement, Record, sanitizer
from audit.report import evidence, messages
from audit.report.drawing import SMALL, WIDE, Box, Dot, Paint, Part, Scale, Stroke, Words
from audit.report.figures import maps as map_of
from audit.report.figures import raster
from audit.report.figures import times as timed
from audit.report.figures import waterfall as published
from audit.report.messages import NOT_MEASURED, milliseconds, number, shape
from audit.report.view import Figure

ASKED = "agreement"
"""The probe that is asked at every shape."""


@dataclass(frozen=True)
class Choice:
    """One pick; `shape` as `messages.shape` writes it, empty where no shape was asked."""

    variant: str
    device: str
    shape: str


def first(record: Record) -> Choice:
    """The first choice: the claimed kernel on the main device, at its largest shape."""
    claimed = record.claim.statement.claimed
    variant = claimed.name if claimed else variants(record)[0]
    return nearest(record, Choice(variant, record.device.kind, ""))


def nearest(record: Record, choice: Choice) -> Choice:
    """The choice, its device and shape replaced where this variant has no answer for them."""
    there = devices(record, choice.variant)
    device = choice.device if choice.device in there else next(iter(there), record.device.kind)
    known = shapes(record, choice.variant, device)
    shape = choice.shape if choice.shape in known else (known[-1] if known else "")
    return Choice(choice.variant, device, shape)


def variants(record: Record) -> list[str]:
    """The variants, in the order of the claim."""
    return [variant.name for variant in record.claim.statement.variant]


def devices(record: Record, variant: str) -> list[str]:
    """The kinds of device that were asked about it, the main one first."""
    kinds = [record.device.kind, *(device.kind for device in record.secondary_devices)]
    answered = {finding.device or record.device.kind for finding in record.findings if finding.target == variant}
    return [kind for kind in kinds if kind in answered]


def shapes(record: Record, variant: str, device: str) -> list[str]:
    """The shapes it was asked at on that device, each once, in their order."""
    finding = found(record, ASKED, variant, device)
    return list(dict.fromkeys(messages.shape(one["shape"]) for one in answers(finding)))


def found(record: Record, probe: str, variant: str, device: str) -> Finding | None:
    """The finding of a probe about a variant on a device; one that names no device is of the main one."""
    for finding in record.findings:
        kind = finding.device or record.device.kind
        if (finding.probe, finding.target, kind) == (probe, variant, device):
            return finding
    return None


def answers(finding: Finding | None) -> list[dict[str, Any]]:
    """The answers at every shape and in every order, as the probe writes them; other entries cannot be drawn."""
    return [] if finding is None else [one for one in objects(finding.evidence.get("shapes")) if _is_answer(one)]


def _is_answer(entry: dict[str, Any]) -> bool:
    shape, elements, wrong = entry.get("shape"), entry.get("elements", 0), entry.get("elements_wrong", 0)
    sizes = list(shape.values()) if isinstance(shape, dict) else [None]
    if not all(type(one) is int for one in (*sizes, elements, wrong)) or not isinstance(entry.get("order"), str):
        return False
    values = (entry.get("expected"), entry.get("got"))
    names_worst = isinstance(entry.get("index"), list) and all(isinstance(one, int | float | str) for one in values)
    clear = entry.get("right") is True or (entry.get("right") is False and names_worst)
    return clear and bool(0 <= wrong <= elements > 0)


def records(root: Path) -> dict[str, Path]:
    """The published records below a folder, by claim and device."""
    paths = sorted(root.glob("*/*/record.json"))
    return {f"{path.parent.parent.name}, {path.parent.name}": path for path in paths}


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
    finding = found(record, map_of.COVERAGE, choice.variant, choice.device)
    if finding is None or map_of.written_grid(finding) is None:
        return absent(map_of.COVERAGE, f"Coverage of {choice.variant}: {_why(finding)}.")
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
