"""Notebooks over records: several GPUs side by side, and one record to explore.

The widgets are core ones only, the same in ipywidgets 7.7 and 8.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from audit import claims, judge
from audit.apps import bundle
from audit.apps.notebook import form as forms
from audit.apps.notebook import maps
from audit.apps.notebook.form import Form, Markdown, Picture, WritingForm, offer_folder, table, uploaded
from audit.model import Record
from audit.model.errors import BadInput
from audit.report import compare as several
from audit.report import terminal
from audit.report.figures import portability as drawn
from audit.report.view import Figure

NAME = "compare"
PUBLISHED = claims.ROOT / "reports"
USUAL = "triangular_mm"
OWN = "your own"


class CompareForm(WritingForm):
    """The fields of `compare_gpus.ipynb`.

    `records` holds paths of `record.json` files and of bundles, separated by blanks; none means the published records
    of `triangular_mm`. `upload` asks for the files instead.
    """

    records: str = ""
    upload: bool = False


def compare(form: CompareForm) -> tuple[Markdown, list[Picture]]:
    """Reads the records, writes the page, and gives its table and its figure. Raises BadInput: a file is no record, or
    the records are of different claims, of different sources or unfinished."""
    records = [bundle.verify(path).record if path.suffix == ".zip" else judge.opened(path) for path in _files(form)]
    compared, out = several.table(records), forms.folder(form, NAME)
    for path in several.write(records, out):
        terminal.say(str(path))
    figure = drawn.draw(records)
    shown = table(compared.columns, compared.rows, numeric=compared.numeric, file=out / f"{NAME}.csv")
    return Markdown(f"{shown}\n\n{several.CARRIES_OVER}"), [] if figure is None else [Picture(figure)]


def offer_page(form: CompareForm) -> None:
    """The folder of the page as one zip."""
    offer_folder(forms.folder(form, NAME), form)


def _files(form: CompareForm) -> list[Path]:
    named = uploaded(form) if form.upload else [Path(word) for word in form.records.split()]
    if form.upload and not named:
        raise BadInput("parameter upload: no file was picked")
    return named or sorted((PUBLISHED / USUAL).glob("*/record.json"))


class ExploreForm(Form):
    """The fields of `explore.ipynb`: `audit` names a published record, `path` one of your own instead."""

    audit: str
    path: str = ""


def record(form: ExploreForm) -> Record:
    """The record of the form. Raises BadInput: no published record of that name, or no record at that path."""
    return judge.opened(_paths(form)[_start(form)])


def stills(form: ExploreForm) -> list[Picture]:
    """The four figures of the claimed kernel: what stays in the notebook when no widget can be drawn."""
    own = record(form)
    return [Picture(figure) for figure in figures(own, maps.first(own))]


def panel(form: ExploreForm) -> Any:
    """The widgets over every published record and the form's own; None, with a sentence, without ipywidgets."""
    if find_spec("ipywidgets") is None:
        terminal.warn("ipywidgets is not installed, so there is nothing to pick here; pip install ipywidgets")
        return None
    return Panel(_paths(form), _start(form)).box


def _paths(form: ExploreForm) -> dict[str, Path]:
    own = {OWN: Path(form.path)} if form.path else {}
    return {**own, **maps.records(PUBLISHED)}


def _start(form: ExploreForm) -> str:
    known = _paths(form)
    if form.path:
        return OWN
    if form.audit not in known:
        raise BadInput(f"parameter audit: {form.audit!r} is unknown; known: {'; '.join(known)}")
    return form.audit


def figures(record: Record, choice: maps.Choice) -> tuple[Figure, ...]:
    """Coverage map, error map, distributions of times and waterfall; where there is no evidence the figure says so."""
    return tuple(draw(record, choice) for draw in (maps.coverage, maps.errors, maps.times, maps.waterfall))


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
            self._show(maps.nearest(self._record, maps.Choice(*(self.picks[name].value for name in PICKS))))

    def _show(self, choice: maps.Choice) -> None:
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
