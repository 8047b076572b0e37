"""The audit of somebody's own kernel: a `.cu` and a Python file with its reference, imported as they are."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from audit import claims
from audit.apps.notebook import form as forms
from audit.apps.notebook.claim import opened
from audit.apps.notebook.form import OneAuditForm
from audit.apps.notebook.offered import fetched, uploaded
from audit.audit import Audit
from audit.claims import ClaimFolder, importers
from audit.claims.importers import writer
from audit.claims.importers.imported import Figure, Imported
from audit.claims.importers.missing import NO_FIGURES
from audit.model.errors import BadInput
from audit.report import terminal

NAME = "your_kernel"
FETCHED = "fetched"


class KernelForm(OneAuditForm):
    """The fields of `your_kernel.ipynb`.

    `kernel` and `reference` are paths or web addresses; `upload` asks for both files instead. A `claimed_ratio` of 0
    means that none was published; else `claimed_gpu` names the GPU it was published for.
    """

    NOTEBOOK = NAME
    kernel: str = "your_kernel.cu"
    reference: str = "your_reference.py"
    upload: bool = False
    claimed_ratio: float = 0.0
    claimed_gpu: str = ""


def start_kernel(form: KernelForm) -> Audit:
    """Imports the two files and opens their audit; tells what was found, chosen and is missing.

    Raises:
        BadInput: a file is missing, is not what it should be, or lacks something no audit can do without.
    """
    out = forms.folder(form, NAME)
    named = (form.kernel, form.reference)
    sources = uploaded(form) if form.upload else [fetched(place, out / FETCHED) for place in named]
    imported = _with_claim(importers.read(sources), form)
    if not imported.auditable:
        lacking = "; ".join(str(one) for one in imported.missing if one.essential)
        raise BadInput(f"{imported.provenance}: not enough for an audit: {lacking}")
    loaded = _folder(imported, out)
    terminal.say(*importers.lines(imported, loaded.path))
    return opened(form, loaded, out, **_files(sources), upload=False)


def _with_claim(imported: Imported, form: KernelForm) -> Imported:
    """The import with the ratio that was published, where the form states one."""
    if not form.claimed_ratio:
        return imported
    if form.claimed_ratio < 0 or not form.claimed_gpu:
        raise BadInput("parameter claimed_ratio: give a ratio above 0, and the GPU it was published for in claimed_gpu")
    figure = Figure("the reference", form.claimed_ratio, "ratio", form.claimed_gpu, "as the form states it")
    rest = tuple(one for one in imported.missing if one != NO_FIGURES)
    return replace(imported, missing=rest).with_figures([figure])


def _files(sources: list[Path]) -> dict[str, str]:
    """The form's fields for those files: what was uploaded has the names it had."""
    kernels = [path for path in sources if path.suffix == ".cu"]
    references = [path for path in sources if path not in kernels]
    return {"kernel": str((kernels or sources)[0]), "reference": str((references or sources)[-1])}


def _folder(imported: Imported, out: Path) -> ClaimFolder:
    """The claim folder of exactly these sources and figures; one that is there already is used again."""
    text = repr((imported.figures, [original.sha256 for original in imported.originals]))
    place = out / f"{NAME}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    if not place.exists():
        writer.write(replace(imported, title="Your kernel"), place)
    return claims.load(str(place))
