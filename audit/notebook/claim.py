"""The audit of one claim, cell by cell."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from audit import bundle, claims, plain, terminal
from audit.batch import parameters
from audit.batch.folder import PARAMETERS
from audit.build.devices import beside, choose
from audit.claims import ClaimFolder
from audit.errors import BadInput
from audit.notebook import form as forms
from audit.notebook import network
from audit.notebook.bar import bar
from audit.notebook.form import AuditForm, OneAuditForm
from audit.notebook.offered import offer
from audit.notebook.shown import Markdown, table
from audit.pipeline import STAGES, Audit
from audit.progress import Progress
from audit.report.formats import Form
from audit.report.quantities import number

FORMATS = ("md", "html", "comment", "openreview")
MOST_SHOWN = 200_000
"""Characters of a source in a cell."""
UNMODIFIED = {
    "verbatim": "the published text, compiled unmodified",
    "reconstruction": "our reconstruction of the published mechanism, compiled unmodified",
}


class ClaimForm(OneAuditForm):
    """The fields of `audit_claim.ipynb`; `claim` is a name of `audit list` or the path of a claim folder."""

    NOTEBOOK = "audit_claim"
    claim: str


def start(form: ClaimForm) -> Audit:
    """Opens the audit; its workers end with the kernel or with `finish`.

    Raises:
        BadInput: the claim does not exist, or the device cannot be used here.
    """
    loaded = claims.load(form.claim)
    return opened(form, loaded, forms.folder(form, loaded.claim.name))


def opened(form: OneAuditForm, loaded: ClaimFolder, out: Path, **used: str | bool) -> Audit:
    """The audit of a loaded claim as the form asks, writing to that folder, with what asks for the same again.

    Args:
        form: what was asked.
        loaded: the claim.
        out: where the record, the report and `parameters.yaml` go.
        used: fields of the form that mean something else the next time, as they must be then.
    """
    if form.network_off:
        network.cut()
    device = choose(form.device, loaded.claim)
    progress = Progress(watch=bar(wanted=form.interactive))
    audit = Audit(
        loaded,
        device,
        out,
        beside=beside(device),
        entropy=form.seed or None,
        rounds=form.rounds,
        progress=progress,
    )
    progress.plan(STAGES)
    known = {"device": device.describe().kind, "seed": audit.seed, "out": "", "copy_to": "", "interactive": False}
    try:
        parameters.write({**form.model_dump(), **known, **used}, out / PARAMETERS)
    except OSError as error:
        audit.close()
        raise BadInput(f"{out / PARAMETERS}: cannot be written ({error.strerror}); choose another folder") from error
    return audit


def source(folder: ClaimFolder) -> Markdown:
    """The claimed source with its SHA-256, as the audit compiles it."""
    claim, claimed = folder.claim, folder.claim.claimed
    if claimed is None:
        return Markdown("This folder holds no claimed kernel.")
    digest = next(one.sha256 for one in folder.audited.sources if one.file == claimed.file)
    text = _seen(folder.source_of(claimed).read_text(encoding="utf-8"))
    fence = "`" * (3 + max(map(len, re.findall("`+", text)), default=0))
    language = "python" if claimed.file.endswith(".py") else "cuda"
    head = f"`{claimed.file}`: {UNMODIFIED[claim.source.fidelity]}. SHA-256 `{digest}`"
    return Markdown(f"{head}\n\n{fence}{language}\n{text.rstrip()}\n{fence}")


def _seen(text: str) -> str:
    """The source as a compiler reads it: what an editor hides is named, and a very long one ends with what is left."""
    told = plain.told(text[:MOST_SHOWN])
    left = len(text) - MOST_SHOWN
    return told if left <= 0 else f"{told}\n… and {left:,} more characters in the file"


def changes(folder: ClaimFolder) -> Markdown:
    """Every ablation against the claimed source: what it changes and in how many lines."""
    claimed = folder.claim.claimed
    rows = []
    for variant in folder.claim.variant:
        if claimed is not None and variant.role == "ablation":
            before, after = (folder.source_of(one).read_text(encoding="utf-8") for one in (claimed, variant))
            lines = [line[0] for line in difflib.ndiff(before.splitlines(), after.splitlines())]
            counts = (number(lines.count("-")), number(lines.count("+")))
            rows.append((variant.file, " and ".join(variant.changes), *counts))
    return table(("File", "Changes against the claimed source", "Lines removed", "Lines added"), rows, numeric=(2, 3))


def report(audit: Audit, form: AuditForm) -> None:
    """Writes the report in every format that needs no browser, in the language of the form."""
    audit.report(Form(form.language, FORMATS))


def finish(audit: Audit, form: OneAuditForm) -> None:
    """Ends the workers, writes the evidence as one zip and offers it; prints where it lies."""
    audit.close()
    terminal.say(f"the same again: papermill -f {audit.out / PARAMETERS} {form.NOTEBOOK}.ipynb executed.ipynb")
    offer(bundle.make(audit.out, claim=audit.folder.path), form)
