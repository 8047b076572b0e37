"""The explore stage: pure functions from a record and a choice to figures, and the widgets that let a person choose.

Core widgets only, the same in ipywidgets 7.7 and 8.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit import judge
from audit.apps.explore import maps
from audit.apps.explore.maps import Choice, coverage, errors, times, waterfall
from audit.model import Record
from audit.report.view import Figure


def figures(record: Record, choice: Choice) -> tuple[Figure, ...]:
    """Coverage map, error map, distributions of times and waterfall; where there is no evidence the figure says so."""
    return tuple(draw(record, choice) for draw in (coverage, errors, times, waterfall))


NAMES = ("coverage", "errors", "times", "waterfall")
PICKS = ("variant", "device", "shape")


class Panel:
    """Four pickers over four figures; show `box` in a cell. `records` are files by the name to pick them under."""

    def __init__(self, records: Mapping[str, Path], start: str) -> None:
        import ipywidgets as widgets

        self._paths = dict(records)
        self._record = judge.opened(self._paths[start])
        self._busy = False
        self.record = widgets.Dropdown(options=list(self._paths), value=start, description="record")
        self.picks = {name: widgets.Dropdown(description=name) for name in PICKS}
        self.images = {name: widgets.Image(format="png") for name in NAMES}
        self.captions = {name: widgets.HTML() for name in NAMES}
        self.record.observe(self._new_record, names="value")
        for pick in self.picks.values():
            pick.observe(self._picked, names="value")
        shown = [part for name in NAMES for part in (self.images[name], self.captions[name])]
        self.box = widgets.VBox([widgets.HBox([self.record, *self.picks.values()]), *shown])
        self._show(maps.first(self._record))

    def _new_record(self, _: Any) -> None:
        self._record = judge.opened(self._paths[self.record.value])
        self._show(maps.first(self._record))

    def _picked(self, _: Any) -> None:
        if not self._busy:
            self._show(maps.nearest(self._record, Choice(*(self.picks[name].value for name in PICKS))))

    def _show(self, choice: Choice) -> None:
        """Offers what fits the choice, and draws it."""
        self._busy = True  # options that change move values, which would draw again
        try:
            options = {
                "variant": maps.variants(self._record),
                "device": maps.devices(self._record, choice.variant) or [choice.device],
                "shape": maps.shapes(self._record, choice.variant, choice.device) or [choice.shape],
            }
            for name, pick in self.picks.items():
                pick.options, pick.value = options[name], getattr(choice, name)
        finally:
            self._busy = False
        for figure in figures(self._record, choice):
            self.images[figure.name].value = figure.png
            self.captions[figure.name].value = html.escape(figure.caption)
