"""Records of one claim from several sessions and GPUs, side by side."""

from __future__ import annotations

from pathlib import Path

from audit import claims, judge
from audit.apps import bundle
from audit.apps.notebook import form as forms
from audit.apps.notebook.form import WritingForm
from audit.apps.notebook.offered import offer_folder, uploaded
from audit.apps.notebook.shown import Markdown, Picture, table
from audit.model import Record
from audit.model.errors import BadInput
from audit.report import compare as several
from audit.report import terminal
from audit.report.figures import portability as drawn

NAME = "compare"
PUBLISHED = "reports/triangular_mm"


class CompareForm(WritingForm):
    """The fields of `compare_gpus.ipynb`.

    `records` holds paths of `record.json` files and of bundles, separated by blanks; none means the published records
    of `triangular_mm`. `upload` asks for the files instead.
    """

    records: str = ""
    upload: bool = False


def compare(form: CompareForm) -> tuple[Markdown, list[Picture]]:
    """Reads the records, writes the page, and gives its table and its figure.

    Raises:
        BadInput: a file is no record, or the records are of different claims, of different sources or unfinished.
    """
    records = [_record(path) for path in _files(form)]
    told, out = several.table(records), forms.folder(form, NAME)
    for path in several.write(records, out):
        terminal.say(str(path))
    figure = drawn.draw(records)
    shown = table(told.columns, told.rows, numeric=told.numeric, file=out / f"{NAME}.csv")
    return Markdown(f"{shown}\n\n{several.CARRIES_OVER}"), [] if figure is None else [Picture(figure)]


def offer_page(form: CompareForm) -> None:
    """The folder of the page as one zip."""
    offer_folder(forms.folder(form, NAME), form)


def _files(form: CompareForm) -> list[Path]:
    named = uploaded(form) if form.upload else [Path(word) for word in form.records.split()]
    if form.upload and not named:
        raise BadInput("parameter upload: no file was picked")
    return named or sorted((claims.KERNELS.parent / PUBLISHED).glob("*/record.json"))


def _record(path: Path) -> Record:
    """A record, or the one in a bundle, which is verified first."""
    return bundle.verify(path).record if path.suffix == ".zip" else judge.opened(path)
