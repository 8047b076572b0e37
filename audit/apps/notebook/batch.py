"""A batch of audits from a notebook: the same as `audit batch`, its summary as a table."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

from audit import claims
from audit.apps.batch import command
from audit.apps.batch import summary as pages
from audit.apps.notebook import form as forms
from audit.apps.notebook.form import AuditForm
from audit.apps.notebook.shown import Markdown, offer_folder, table
from audit.model.errors import BadInput
from audit.report import terminal

NAME = "batch"


class BatchForm(AuditForm):
    """The fields of `batch.ipynb`.

    `collection` holds names of claims, claim folders, folders of them or list files, separated by blanks; relative
    ones are looked up here first and then in the kit. `jobs` 0 leaves the number to the kit. `limit_s` is the outer
    limit of one audit in seconds.
    """

    collection: str
    jobs: int = 0
    limit_s: int = 1800
    resume: bool = False


def batch(form: BatchForm) -> Path:
    """Runs the batch, then offers its folder as one zip; returns the folder. Raises BadInput: the collection is empty
    or unknown, or the folder holds a batch that is not to be resumed."""
    out = forms.folder(form, NAME)
    if form.jobs < 0 or form.limit_s <= 0:
        raise BadInput("parameters jobs and limit_s: at least 0 audits at once, and more than 0 seconds for each")
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({"language": form.language, "network_off": form.network_off}, file)
        file.flush()
        code = command.batch(
            tuple(_place(word) for word in form.collection.split()),
            out=out,
            device=form.device,
            jobs=form.jobs or None,
            timeout=float(form.limit_s),
            resume=form.resume,
            parameters_=Path(file.name),
        )
    terminal.say(f"exit code {code}: the worst state of any audit, whatever its verdict")
    offer_folder(out, form)
    return out


def summary(folder: Path) -> Markdown:
    """One row a claim of the batch in that folder."""
    file = folder / f"{pages.NAME}.csv"
    with file.open(encoding="utf-8", newline="") as text:
        columns, *rows = csv.reader(text)
    return table(tuple(columns), map(tuple, rows), numeric=pages.NUMERIC, file=file)


def _place(word: str) -> str:
    """A path of the kit where nothing of that name is here; a claim's name stays as it is."""
    inside = claims.ROOT / word
    return str(inside) if not Path(word).exists() and inside.exists() else word
