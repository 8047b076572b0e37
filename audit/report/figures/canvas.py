"""How every figure looks and how it becomes bytes: Agg, opaque white, colours that stay apart for the colour-blind."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from audit.report import plain

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#E69F00", "#009E73", "#8A8A8A", "#1B1F24"
DOTS_PER_INCH = 110
LABEL_CHARACTERS = 38


@contextmanager
def style() -> Iterator[None]:
    """matplotlib's own defaults whatever the user's settings; text is never read as mathematics."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "text.parse_math": False,
                "font.family": ["DejaVu Sans"],
                "font.size": 10,
                "text.color": INK,
                "axes.labelcolor": INK,
                "axes.edgecolor": GREY,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "xtick.color": INK,
                "ytick.color": INK,
            }
        )
        yield


def sheet(width: float, height: float) -> Figure:
    """An empty figure of that many inches."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as PNG without software name or time, so that equal figures are equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", facecolor="white", metadata={"Software": None})
    return buffer.getvalue()


def label(text: str, *, limit: int = LABEL_CHARACTERS) -> str:
    """A label others wrote: one line, shortened, only letters the face has."""
    return "".join(
        letter if letter in "…×·–" or ord(letter) < 0x250 else "?" for letter in plain.line(text, limit=limit)
    )
