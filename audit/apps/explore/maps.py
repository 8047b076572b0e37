"""The coverage map, the error map and the waterfall of a choice; where there is no evidence the figure says why."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from audit.apps.explore.choice import ASKED, Choice, answers, found
from audit.model import Finding, Record, sanitizer
from audit.report import evidence
from audit.report.figures import canvas
from audit.report.figures import coverage as map_of
from audit.report.figures import waterfall as published
from audit.report.quantities import NOT_MEASURED, number, shape
from audit.report.view import Figure

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
    sizes = evidence.size(finding)
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
