"""Drawing → PNG for Markdown, comments and notebooks: light, and in the letters of matplotlib's own face.

The look of a page of matplotlib, for the colour-blind too, and its bytes stand here as well; matplotlib is imported
where one is drawn.
"""

from __future__ import annotations

import io
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from audit.model import sanitizer
from audit.report.drawing import LINE, WIDE, Dot, Drawing, Paint, Part, Stroke, Words
from audit.report.view import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

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
    with style():
        page = sheet(wide / UNITS_PER_INCH, tall / UNITS_PER_INCH)
        page.set_layout_engine("none")
        axis = page.add_axes((0, 0, 1, 1))
        axis.set(xlim=(-MARGIN, wide - MARGIN), ylim=(tall - MARGIN, -MARGIN))
        axis.axis("off")
        for order, part in enumerate(drawing.parts):
            _part(axis, part, order)
        return encoded(page)


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
    lines = part.lines(label(part.text, limit=sanitizer.LINE_CHARACTERS))
    for place, line in enumerate(lines):
        middle = part.first(len(lines)) + place * LINE * part.size
        axis.text(part.x, middle, line, color=COLOURS[part.paint], ha=SIDES[part.anchor], va="center_baseline",
                  fontsize=_points(part.size), weight="bold" if part.bold else "normal", zorder=order)  # fmt: skip


def _points(units: float) -> float:
    return units * 72 / UNITS_PER_INCH


BLUE, ORANGE, GREY, INK = "#0072B2", "#E69F00", "#8A8A8A", "#1B1F24"
DOTS_PER_INCH = 110
LABEL_CHARACTERS = 38
MOST_LINES = 60
"""Of a figure, so that a record of others cannot ask for a picture of any height."""


@dataclass(frozen=True)
class Palette:
    """The colours of page, letters, quiet lines and two series."""

    page: str
    ink: str
    quiet: str
    warm: str
    cool: str


LIGHT = Palette(page="white", ink=INK, quiet=GREY, warm="#C96A00", cool=BLUE)
DARK = Palette(page="#14181D", ink="#E3E8EE", quiet="#7D8894", warm="#FFB454", cool="#6CC3F2")
"""The page colour is that of the report's style sheet."""


@contextmanager
def style(palette: Palette = LIGHT) -> Iterator[None]:
    """Draw the body with matplotlib's own defaults, without the user's settings and without mathematics in texts."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "text.parse_math": False,
                "font.family": ["DejaVu Sans"],
                "font.size": 10,
                "figure.facecolor": palette.page,
                "axes.facecolor": palette.page,
                "text.color": palette.ink,
                "axes.labelcolor": palette.ink,
                "axes.edgecolor": palette.quiet,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "xtick.color": palette.ink,
                "ytick.color": palette.ink,
            }
        )
        yield


def sheet(width: float, height: float) -> Page:
    """Return an empty figure of that many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Page

    page = Page(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(page)
    return page


def encoded(page: Page) -> bytes:
    """Return the page as PNG without software name or time, so that equal figures are equal bytes."""
    buffer = io.BytesIO()
    page.savefig(buffer, format="png", facecolor=page.get_facecolor(), metadata={"Software": None},
                   pil_kwargs={"optimize": True})  # fmt: skip
    return buffer.getvalue()


def drawn_with() -> str:
    """Return the versions and the machine that decide the pixels of a figure."""
    import matplotlib as mpl
    from matplotlib import ft2font

    return f"matplotlib {mpl.__version__}, FreeType {ft2font.__freetype_version__}, {platform.machine()}"


def label(text: str, *, limit: int = LABEL_CHARACTERS) -> str:
    """Return a text of others as a label: one line, shortened, with the letters of the face only."""
    return "".join(
        letter if letter in "…×·–" or ord(letter) < 0x250 else "?" for letter in sanitizer.line(text, limit=limit)
    )
