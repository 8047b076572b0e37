"""A record to look around in: still figures that every reader sees, and a panel of widgets where there are widgets."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from audit import claims, judge
from audit.apps import explore
from audit.apps.explore import choice as choices
from audit.apps.notebook.form import Form
from audit.apps.notebook.shown import Picture
from audit.model import Record
from audit.model.errors import BadInput
from audit.report import terminal

PUBLISHED = claims.KERNELS.parent / "reports"


class ExploreForm(Form):
    """The fields of `explore.ipynb`: `audit` names a published record, `path` one of your own instead."""

    audit: str
    path: str = ""


def record(form: ExploreForm) -> Record:
    """The record of the form.

    Raises:
        BadInput: no published record of that name, or no record at that path.
    """
    return judge.opened(_paths(form)[_start(form)])


def stills(form: ExploreForm) -> list[Picture]:
    """The four figures of the claimed kernel: what stays in the notebook when no widget can be drawn."""
    own = record(form)
    return [Picture(figure) for figure in explore.figures(own, choices.first(own))]


def panel(form: ExploreForm) -> Any:
    """The widgets over every published record and the form's own; None, with a sentence, without ipywidgets."""
    if find_spec("ipywidgets") is None:
        terminal.warn("ipywidgets is not installed, so there is nothing to pick here; pip install ipywidgets")
        return None
    from audit.apps.explore.panel import Panel

    return Panel(_paths(form), _start(form)).box


def _paths(form: ExploreForm) -> dict[str, Path]:
    own = {"your own": Path(form.path)} if form.path else {}
    return {**own, **choices.records(PUBLISHED)}


def _start(form: ExploreForm) -> str:
    known = _paths(form)
    if form.path:
        return "your own"
    if form.audit not in known:
        raise BadInput(f"parameter audit: {form.audit!r} is unknown; known: {'; '.join(known)}")
    return form.audit
