"""The error map: at every shape and in every thread order, the share of elements that are wrong."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from audit.apps.explore.absent import absent
from audit.apps.explore.choice import ASKED, Choice, answers, found
from audit.model import Record
from audit.report.figures import canvas
from audit.report.quantities import number, shape
from audit.report.view import Figure

NAME = "errors"
COLOURS = LinearSegmentedColormap.from_list("wrong", ["#F6E3BF", canvas.ORANGE, "#B65200"])
RIGHT = canvas.BLUE
DARK_FROM = 0.75


def draw(record: Record, choice: Choice) -> Figure:
    """One cell a shape and order, the chosen shape framed; below it the worst element there, expected and got."""
    finding = found(record, ASKED, choice.variant, choice.device)
    cells = {(shape(one["shape"]), str(one["order"])): one for one in answers(finding)}
    if not cells:
        why = finding.summary if finding else "not asked on this device"
        return absent(NAME, f"Errors of {choice.variant}: {why}.")
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
    told = "; ".join(f"{place}, {order}: {_words(one)}" for (place, order), one in cells.items())
    caption = f"Wrong elements of {choice.variant} on {choice.device}, by shape and thread order."
    return Figure(name=NAME, alt=f"{caption} {told}.", caption=caption, png=png)


def _cell(axis: Axes, column: int, row: int, one: dict[str, Any]) -> None:
    share = one["elements_wrong"] / one["elements"]
    face = COLOURS(share) if share else RIGHT
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
    return f"{chosen}: worst at [{place}], expected {_value(worst['expected'])}, got {_value(worst['got'])}"


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
