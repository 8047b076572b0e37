"""The look of every figure, for the colour-blind too, and its bytes; matplotlib is imported where one is drawn."""

from __future__ import annotations

import io
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit.model import sanitizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def sheet(width: float, height: float) -> Figure:
    """Return an empty figure of that many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """Return the figure as PNG without software name or time, so that equal figures are equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", facecolor=figure.get_facecolor(), metadata={"Software": None},
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
