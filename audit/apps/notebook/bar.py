"""The stages of an audit and how much of it is done, drawn in one place while a person watches."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from audit.report.progress import Progress

DONE, NOW = "✓", "▶"


class Bar:
    """Draws a `Progress` in the cell that runs; colours are the notebook's own, light or dark."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._drawn = ""

    def __call__(self, progress: Progress) -> None:
        """Draw the bar as the first stage begins, and bring that one up to date from then on."""
        shown: Any = import_module("IPython.display")  # its functions have no types
        html = drawn(progress)
        if self._handle is None:
            self._handle = shown.display(shown.HTML(html), display_id=True)
        elif html != self._drawn:
            self._handle.update(shown.HTML(html))
        self._drawn = html


def bar(*, wanted: bool) -> Bar | None:
    """A bar if it is wanted and this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return Bar() if wanted and ipython is not None and ipython.get_ipython() is not None else None


def drawn(progress: Progress) -> str:
    """HTML: every stage with its seconds, the one that runs, how much is done and what may be left."""
    spent = dict(progress.stages)
    known = [*progress.planned, *(name for name in (*spent, progress.running) if name not in progress.planned)]
    stages = " · ".join(_stage(name, spent, progress.running) for name in known if name)
    left = progress.left()
    percent = round(100 * progress.share)
    bar = f'<progress max="100" value="{percent}" aria-label="{left}"></progress> {left}' if left else ""
    return f"<div>{bar}<br><small>{stages}</small></div>"


def _stage(name: str, spent: dict[str, float], running: str) -> str:
    if name == running:
        return f"<b>{NOW} {name}</b>"
    return f"{DONE} {name} {spent[name]:.1f} s" if name in spent else name
