"""Drawing → PNG for Markdown, comments and notebooks: light, and in the letters of matplotlib's own face."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from audit.model import sanitizer
from audit.report.drawing import LINE, WIDE, Dot, Drawing, Paint, Part, Stroke, Words
from audit.report.figures import canvas
from audit.report.view import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: dict[Paint, str] = {
    "text": "#1b1f24",
    "soft": "#57606a",
    "page": "#ffffff",
    "line": "#d0d7de",
    "warm": "#e69f00",
    "on-warm": "#1b1f24",
    "cool": "#0072b2",
    "on-cool": "#ffffff",
    "mid": "#56a0cc",
    "pale": "#f6e3bf",
    "quiet": "#e4e4e4",
    "none": "none",
}
"""As the style sheet of a page has them for a light one."""
UNITS_PER_INCH = 90.0
MARGIN = 6.0
DASHES = (0, (4, 3))
SIDES = {"start": "left", "middle": "center", "end": "right"}


@lru_cache(maxsize=32)
def png(drawing: Drawing) -> bytes:
    """Return the drawing as PNG, 1.2 pixels a unit; equal drawings, of the report and of its bundle, are drawn once."""
    wide, tall = WIDE + 2 * MARGIN, drawing.tall + 2 * MARGIN
    with canvas.style():
        sheet = canvas.sheet(wide / UNITS_PER_INCH, tall / UNITS_PER_INCH)
        sheet.set_layout_engine("none")
        axis = sheet.add_axes((0, 0, 1, 1))
        axis.set(xlim=(-MARGIN, wide - MARGIN), ylim=(tall - MARGIN, -MARGIN))
        axis.axis("off")
        for order, part in enumerate(drawing.parts):
            _part(axis, part, order)
        return canvas.png(sheet)


def figure(name: str, tall: float, parts: Sequence[Part], *, alt: str, caption: str, svg: bool = True) -> Figure:
    """Return the figure of a drawing that tall; without `svg` its PNG alone."""
    drawing = Drawing(tall, tuple(parts))
    return Figure(name=name, alt=alt, caption=caption, png=png(drawing), drawing=drawing if svg else None)


def _part(axis: Axes, part: Part, order: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Patch, Rectangle

    if isinstance(part, Words):
        _words(axis, part, order)
        return
    if isinstance(part, Stroke):
        (left, top), (right, bottom) = part.start, part.end
        axis.add_line(Line2D([left, right], [top, bottom], color=COLOURS[part.paint], linewidth=_points(part.thick),
                             linestyle=DASHES if part.dashed else "-", zorder=order))  # fmt: skip
        return
    face, edge = COLOURS[part.fill], COLOURS[part.edge]
    if isinstance(part, Dot):
        patch: Patch = Circle((part.x, part.y), part.radius, linewidth=_points(1.6))
    else:
        patch = Rectangle((part.left, part.top), part.wide, part.tall, linewidth=_points(1))
        patch.set_linestyle(DASHES if part.dashed else "-")
    patch.set(facecolor=face, edgecolor=edge, zorder=order)
    axis.add_patch(patch)


def _words(axis: Axes, part: Words, order: int) -> None:
    lines = part.lines(canvas.label(part.text, limit=sanitizer.LINE_CHARACTERS))
    for place, line in enumerate(lines):
        middle = part.first(len(lines)) + place * LINE * part.size
        axis.text(part.x, middle, line, color=COLOURS[part.paint], ha=SIDES[part.anchor], va="center_baseline",
                  fontsize=_points(part.size), weight="bold" if part.bold else "normal", zorder=order)  # fmt: skip


def _points(units: float) -> float:
    return units * 72 / UNITS_PER_INCH
