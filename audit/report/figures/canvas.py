"""How every figure looks and how it becomes bytes: Agg, opaque, colours that stay apart for the colour-blind."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from audit.model import sanitizer

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#E69F00", "#009E73", "#8A8A8A", "#1B1F24"
DOTS_PER_INCH = 110
LABEL_CHARACTERS = 38


@dataclass(frozen=True)
class Palette:
    """The colours of paper, letters, quiet lines and two series that stand against each other."""

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
    """matplotlib's own defaults whatever the user's settings; text is never read as mathematics."""
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
    """An empty figure of that many inches."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as PNG without software name or time, so that equal figures are equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", facecolor=figure.get_facecolor(), metadata={"Software": None})
    return buffer.getvalue()


def label(text: str, *, limit: int = LABEL_CHARACTERS) -> str:
    """A label others wrote: one line, shortened, only letters the face has."""
    return "".join(
        letter if letter in "…×·–" or ord(letter) < 0x250 else "?" for letter in sanitizer.line(text, limit=limit)
    )
