"""A figure for what has no picture: the reason, in words, where the picture would stand."""

from __future__ import annotations

import textwrap

from audit.model import sanitizer
from audit.report.figures import canvas
from audit.report.view import Figure

WIDTH = 78


def absent(name: str, text: str) -> Figure:
    """A sheet that holds one sentence."""
    words = canvas.label(sanitizer.line(text), limit=WIDTH * 5)
    lines = textwrap.wrap(words, WIDTH)
    with canvas.style():
        sheet = canvas.sheet(6.6, 0.5 + 0.24 * len(lines))
        sheet.text(0.02, 0.5, "\n".join(lines), ha="left", va="center", fontsize=10)
        return Figure(name=name, alt=words, caption=words, png=canvas.png(sheet))
